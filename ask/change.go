package ask

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/web/rows"
	"pgtaskd/work"
)

// Change is the result of Stop or Again for one task.
type Change struct {
	Target string `json:"target"`
	ID     int64  `json:"id"`
	Was    string `json:"was,omitempty"` // the state before
	outcome
}

// outcome says whether something changed, and what to tell the user.
type outcome struct {
	Done bool   `json:"done"`
	Text string `json:"text"`

	what string // the beginning of the line for people
}

// Stop sets tasks to STOP: it pauses waiting tasks and cancels running ones. For an ended task, it
// stops the waiting repetition.
func Stop(ctx context.Context, s *Screen, targets []work.Target, ids []int64) error {
	return changeTasks(ctx, s, targets, ids, "stop", was.stopped)
}

// Again lets ended tasks run again.
func Again(ctx context.Context, s *Screen, targets []work.Target, ids []int64) error {
	return changeTasks(ctx, s, targets, ids, "again", was.again)
}

func changeTasks(ctx context.Context, s *Screen, targets []work.Target, ids []int64, command string, say func(was) outcome) error {
	return changeEach(ctx, s, targets, ids, command, rows.ChangesTasks, func(b *table, id int64) (any, *outcome, error) {
		c := &Change{Target: b.Target.Name(), ID: id}
		var w was
		err := b.conn.QueryRow(ctx, b.queries.Text("change"), id, command == "stop").Scan(&w.state, &w.ended, &w.next, &w.changed)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			c.Text, err = "is not in the table", nil
		case err == nil:
			c.Was, c.outcome = w.state, say(w)
		}
		return c, &c.outcome, err
	})
}

// changeEach changes several things of a table, one by one, and shows the result of each. do
// returns the result as an object, and its outcome. An error of the server is the outcome of one
// thing only.
func changeEach[T any](ctx context.Context, s *Screen, targets []work.Target, things []T, command string, purpose rows.Purpose, do func(*table, T) (any, *outcome, error)) error {
	t, err := only(targets)
	if err != nil {
		return err
	}
	return one(ctx, t, command, purpose, func(b *table) error {
		return showEach(s, things, func(thing T) (any, *outcome, error) {
			object, o, err := do(b, thing)
			o.what = fmt.Sprintf("%v ", thing)
			var answer *pgconn.PgError
			if errors.As(err, &answer) && !b.lost(err) {
				o.Text, err = "cannot be changed: "+answer.Message, nil
				if answer.Detail != "" {
					o.Text += " (" + answer.Detail + ")"
				}
			}
			return object, o, err
		})
	})
}

// showEach calls do for each thing, and shows the outcomes.
func showEach[T any](s *Screen, things []T, do func(T) (any, *outcome, error)) error {
	failed := false
	for _, thing := range things {
		object, o, err := do(thing)
		switch {
		case err != nil:
			return err
		case s.Objects != nil:
			err = s.Object(object)
		case o.Done:
			err = s.Line("%s%s", o.what, o.Text)
		default:
			s.Remark("%s%s", o.what, o.Text)
		}
		if err != nil {
			return err
		}
		failed = failed || !o.Done
	}
	if failed {
		return ErrFailed
	}
	return nil
}

// was is a task before the change.
type was struct {
	state   string
	ended   bool // the row has a stop
	next    int64
	changed bool
}

func (w was) stopped() outcome {
	switch {
	case !w.changed:
		return outcome{Text: "was not changed: a trigger of the table keeps it"}
	case w.state == "WORK":
		return outcome{Done: true, Text: "runs, and is being cancelled"}
	case w.state == "STOP" && !w.ended:
		return outcome{Done: true, Text: "is paused already, or being cancelled"}
	case w.state == "PLAN", w.state == "TAKE":
		return outcome{Done: true, Text: "waits, and is paused"}
	case w.next != 0:
		return outcome{Done: true, Text: fmt.Sprintf("has ended (%s); its repetition %d is stopped, if that waits", w.state, w.next)}
	}
	return outcome{Done: true, Text: fmt.Sprintf("has ended (%s): there is nothing to stop", w.state)}
}

func (w was) again() outcome {
	switch {
	case w.changed:
		return outcome{Done: true, Text: fmt.Sprintf("had ended (%s), and waits to run again", w.state)}
	case w.state == "STOP" && !w.ended:
		return outcome{Text: "has not ended: it is paused, and UPDATE … SET state = 'PLAN' resumes it"}
	}
	return outcome{Text: fmt.Sprintf("has not ended: it is %s", w.state)}
}
