package ask

import (
	"context"
	"errors"
	"fmt"

	"pgtaskd/web/rows"
	"pgtaskd/work"
	"pgtaskd/work/place"
)

// Adopted is the result of adopting one table.
type Adopted struct {
	Target  string `json:"target"`
	Copy    bool   `json:"copy"`              // it was a copy
	Changed int64  `json:"changed,omitempty"` // tasks that were paused or given up, or had been at work
	outcome
}

// Adopt lets those of the targets be served whose tables are copies. What waits in them goes on,
// unless it is to be paused or to be GONE.
func Adopt(ctx context.Context, s *Screen, targets []work.Target, paused, gone bool) error {
	way := place.All
	switch {
	case paused:
		way = place.Paused
	case gone:
		way = place.Gone
	}
	return showEach(s, targets, func(t work.Target) (any, *outcome, error) {
		a := &Adopted{Target: t.Name(), outcome: outcome{what: t.Name() + ": "}}
		if err := a.adopt(ctx, t, way); err != nil {
			a.Text = err.Error()
		} else {
			a.Done = true
		}
		return a, &a.outcome, ctx.Err()
	})
}

func (a *Adopted) adopt(ctx context.Context, t work.Target, way string) error {
	return one(ctx, t, "adopt", rows.ChangesTasks, func(b *table) error {
		found, err := place.Look(ctx, b.conn, t, nil)
		if err != nil {
			return err
		}
		if a.Copy = found.Differs != ""; !a.Copy {
			a.Text = "is no copy"
			return nil
		}
		if a.Changed, err = place.Adopt(ctx, b.conn, found, way); err != nil {
			return err
		}
		if found, err = place.Look(ctx, b.conn, t, nil); err == nil && found.Differs != "" {
			err = errors.New("is still a copy: another server writes here where the table is; end the subscription first")
		}
		a.Text = a.adopted(way)
		return err
	})
}

// adopted says what has become of the tasks.
func (a *Adopted) adopted(way string) string {
	switch {
	case way == place.Paused:
		return fmt.Sprintf("is adopted; paused: %d", a.Changed)
	case way == place.Gone:
		return fmt.Sprintf("is adopted; given up: %d", a.Changed)
	case a.Changed > 0:
		return fmt.Sprintf("is adopted; cut off while at work: %d", a.Changed)
	}
	return "is adopted"
}

// copied says why the table is a copy; "": it is none.
func (b *table) copied(ctx context.Context) (why string, err error) {
	found, err := place.Look(ctx, b.conn, b.Target, nil)
	if copied := found.Err(); err == nil && copied != nil {
		why = copied.Error()
	}
	return why, err
}
