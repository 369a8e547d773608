package ask

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
)

// ErrLeft is the error of a Drain that leaves tasks which wait for a retry, or for a task that does.
var ErrLeft = errors.New("some tasks wait for a retry, or for a task that does: drain --until TIME runs those that are planned by then")

// leftShown is how many of these tasks a Drain shows.
const leftShown = 20

// Left is a task that a Drain leaves.
type Left struct {
	Target string `json:"target"`
	ID     int64  `json:"id"`
	State  string `json:"state"`
	Group  string `json:"group"`
	Plan   string `json:"plan,omitempty"`   // of its retry
	Awaits int64  `json:"awaits,omitempty"` // the task that it waits for
	Error  string `json:"error,omitempty"`  // of its last run
}

func (l Left) String() string {
	text := fmt.Sprintf("%s: %s %d %s: ", l.Target, l.State, l.ID, l.Group)
	if l.Awaits != 0 {
		return text + fmt.Sprint("waits for task ", l.Awaits)
	}
	text += "runs again at " + l.Plan
	if l.Error != "" {
		text += ": " + first(l.Error, textWidth)
	}
	return text
}

// showLeft shows the tasks that a drain leaves, at most leftShown, and counts them all.
func (b *table) showLeft(ctx context.Context, s *Screen) (count int64, err error) {
	var all []Left
	err = b.look(ctx, func() error {
		rows, _ := b.conn.Query(ctx, b.queries.Text("waiting_again"), lookedAt, leftShown) // CollectRows returns its error
		all, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (Left, error) {
			l := Left{Target: b.Target.Name(), State: "PLAN"}
			err := row.Scan(&count, &l.ID, &l.Group, &l.Plan, &l.Awaits, &l.Error)
			l.Plan = human.ISO(l.Plan)
			return l, err
		})
		return err
	})
	for _, l := range all {
		switch {
		case err != nil:
		case s.Objects != nil:
			err = s.Object(l)
		default:
			err = s.Line("%s", l)
		}
	}
	return count, err
}
