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
		found, err := b.Running(ctx, a.Hidden)
		if len(found) > 0 && found[0].More {
			c.Notes = append(c.Notes, "More tasks may run: the page looks at the 100,000 tasks that are due first, and shows 1000.")
		}
		c.Rows = found
		return err
	})
	return c, err
}
