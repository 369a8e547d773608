package ask

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/work"
)

// Change is the result of stopping a task or running it again.
type Change struct {
	Target string `json:"target"`
	ID     int64  `json:"id"`
	Was    string `json:"was,omitempty"` // its state
	Done   bool   `json:"done"`
	Text   string `json:"text"`
}

// Stop sets tasks to STOP: waiting tasks are paused, running ones are cancelled, and of ended ones
// the waiting repetition is stopped.
func Stop(ctx context.Context, s *Screen, targets []work.Target, ids []int64) error {
	return change(ctx, s, targets, ids, "stop", stopped)
}

// Again lets ended tasks run again.
func Again(ctx context.Context, s *Screen, targets []work.Target, ids []int64) error {
	return change(ctx, s, targets, ids, "again", again)
}

// was is the state of a task before it was changed.
type was struct {
	state   string
	stopped bool // it has an end
	next    int64
	changed bool
}

// change changes one task after the other, each in a transaction of its own.
func change(ctx context.Context, s *Screen, targets []work.Target, ids []int64, command string, judge func(was) (string, bool)) error {
	t, err := only(targets)
	if err != nil {
		return err
	}
	failed := false
	err = one(ctx, t, command, changesTasks, func(b *table) error {
		for _, id := range ids {
			c, err := b.change(ctx, command, id, judge)
			if err != nil {
				return err
			}
			failed = failed || !c.Done
			switch {
			case s.Objects != nil:
				err = s.Object(c)
			case c.Done:
				err = s.Line("%d %s", id, c.Text)
			default:
				s.Remark("%d %s", id, c.Text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && failed {
		return ErrFailed
	}
	return err
}

func (b *table) change(ctx context.Context, command string, id int64, judge func(was) (string, bool)) (Change, error) {
	c := Change{Target: b.target.Name(), ID: id}
	var w was
	err := b.look(ctx, func() error {
		return b.conn.QueryRow(ctx, b.queries.Text("change"), id, command == "stop").Scan(&w.state, &w.stopped, &w.next, &w.changed)
	})
	var answer *pgconn.PgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		c.Text = "is not in the table"
		return c, nil
	case errors.As(err, &answer) && !b.lost(err):
		c.Text = "cannot be changed: " + answer.Message
		if answer.Detail != "" {
			c.Text += " (" + answer.Detail + ")"
		}
		return c, nil
	case err != nil:
		return c, err
	}
	c.Was = w.state
	c.Text, c.Done = judge(w)
	return c, nil
}

func stopped(w was) (string, bool) {
	switch {
	case !w.changed:
		return "was not changed: a trigger of the table keeps it", false
	case w.state == "WORK":
		return "runs, and is being cancelled", true
	case w.state == "STOP" && !w.stopped:
		return "is paused already, or being cancelled", true
	case w.state == "PLAN", w.state == "TAKE":
		return "waits, and is paused", true
	case w.next != 0:
		return fmt.Sprintf("has ended (%s); its repetition %d is stopped, if that waits", w.state, w.next), true
	}
	return fmt.Sprintf("has ended (%s): there is nothing to stop", w.state), true
}

func again(w was) (string, bool) {
	switch {
	case w.changed:
		return fmt.Sprintf("had ended (%s), and waits to run again", w.state), true
	case w.state == "STOP" && !w.stopped:
		return "has not ended: it is paused, and UPDATE … SET state = 'PLAN' resumes it", false
	}
	return fmt.Sprintf("has not ended: it is %s", w.state), false
}
