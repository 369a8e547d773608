package page

import (
	"context"

	"pgtaskd/web/login"
	"pgtaskd/web/rows"
)

// runningPage shows what runs.
var runningPage = Kind{Path: "/running", Name: "running", Title: "Running", Key: "r", Needs: login.Reader, Read: readRunning}

func readRunning(ctx context.Context, s *rows.Sessions, a *Asked) (*Content, error) {
	t, err := a.Target()
	if err != nil {
		return nil, err
	}
	c := &Content{}
	err = s.Read(ctx, t.Target, ListLimit, func(ctx context.Context, b *rows.Table) error {
		var found []rows.Running
		found, c.Notes, err = Running(ctx, b, a.Hidden)
		c.Rows = found
		return err
	})
	return c, err
}

// Running reads what runs, and says what is missing.
func Running(ctx context.Context, b *rows.Table, h rows.Hidden) (found []rows.Running, notes []string, err error) {
	found, err = b.Running(ctx, h)
	if len(found) > 0 && found[0].More {
		notes = append(notes, "More tasks may run: the page looks at the 100,000 tasks that are due first, and shows 1000.")
	}
	return found, notes, err
}
