package page

import (
	"context"

	"pgtaskd/web/rows"
)

// runningPage shows what runs.
var runningPage = Kind{Path: "/running", Name: "running", Title: "Running", Read: ofTarget(readRunning)}

func readRunning(ctx context.Context, a *Asked, b *rows.Table, c *Content) (err error) {
	c.Rows, c.Notes, err = Running(ctx, b, a.Hidden)
	return err
}

// Running reads what runs, and says what is missing.
func Running(ctx context.Context, b *rows.Table, h rows.Hidden) (found []rows.Running, notes []string, err error) {
	found, err = b.Running(ctx, h)
	if len(found) > 0 && found[0].More {
		notes = append(notes, "More tasks may run: the page looks at the 100,000 tasks that are due first, and shows 1000.")
	}
	return found, notes, err
}
