package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Pausing is the result of Pause or Resume for one group.
type Pausing struct {
	Target string `json:"target"`
	Group  string `json:"group"` // a name that ends in % means all groups that begin so
	Paused bool   `json:"paused"`
	Until  string `json:"until,omitempty"` // end of the pause
	outcome
}

// Pause stops the groups from starting tasks. until is a moment, or how long from now; "": until
// somebody resumes them. An empty note changes no note.
func Pause(ctx context.Context, s *Screen, targets []work.Target, groups []string, until, note string) error {
	var moment *time.Time
	return changeEach(ctx, s, targets, groups, "pause", rows.ChangesGroups, func(b *table, group string) (any, *outcome, error) {
		p := &Pausing{Target: b.Target.Name(), Group: group}
		if until != "" && moment == nil {
			at, err := b.moment(ctx, until, 1)
			if err != nil {
				return p, &p.outcome, fmt.Errorf("--until: %w", err)
			}
			moment = &at
		}
		err := b.conn.QueryRow(ctx, b.queries.Text("pause"), group, moment, note).Scan(&p.Until)
		if err != nil {
			return p, &p.outcome, missing(b, err)
		}
		p.Paused, p.Done, p.Text = true, true, "is paused"
		if p.Until != "" {
			p.Text += " until " + p.Until
			p.Until = human.ISO(p.Until)
		}
		p.Text += b.unused(ctx, group)
		return p, &p.outcome, nil
	})
}

// unused says so if no task has the group, whose pause holds all the same. An error says nothing:
// a role that may pause groups need not read tasks.
func (b *table) unused(ctx context.Context, group string) string {
	var used, more bool
	err := b.look(ctx, func() error {
		if _, err := b.conn.Exec(ctx, "SET LOCAL lock_timeout = '"+lockPatience+"'"); err != nil {
			return err
		}
		return b.conn.QueryRow(ctx, b.queries.Text("grouped"), group, lookedAt).Scan(&used, &more)
	})
	which := "this group"
	if strings.HasSuffix(group, "%") {
		which = "a group that begins so"
	}
	switch {
	case err != nil || used:
		return ""
	case more:
		return fmt.Sprintf(", though none of the newest %d tasks has %s", lookedAt, which)
	}
	return ", though no task has " + which
}

// Resume ends the pauses of groups.
func Resume(ctx context.Context, s *Screen, targets []work.Target, groups []string) error {
	return changeEach(ctx, s, targets, groups, "resume", rows.ChangesGroups, func(b *table, group string) (any, *outcome, error) {
		p := &Pausing{Target: b.Target.Name(), Group: group}
		var others []string
		err := b.conn.QueryRow(ctx, b.queries.Text("resume"), group).Scan(&p.Done, &others)
		if p.Text = "is resumed"; !p.Done {
			p.Text = "is not paused by a row of its own"
		}
		if p.Paused = len(others) > 0; p.Paused {
			p.Text += "; it is still paused by " + strings.Join(others, ", ")
		}
		return p, &p.outcome, missing(b, err)
	})
}

// missing says so if the error is that there is no table of groups.
func missing(b *table, err error) error {
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == "42P01" {
		return fmt.Errorf("there is no table %s: pgtaskd run makes it, and its log says what is in the way", sql.Beside(b.Name, "group"))
	}
	return err
}
