package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// release gives tasks back.
func (l *loop) release(ctx context.Context, ends []end) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends, l.encoding())
	delays := make([]*string, len(ends))
	starts, stops, causes := make([]*time.Time, len(ends)), make([]*time.Time, len(ends)), make([]string, len(ends))
	for i, e := range ends {
		c.errors[i], c.sqlstates[i] = nil, nil
		if e.Delay > 0 {
			d := fmt.Sprint(e.Delay.Microseconds(), " microseconds")
			delays[i] = &d
			l.look.wanted = true
		}
		switch {
		case e.Result != nil && e.Result.Reason == exec.Drained:
			starts[i], stops[i], causes[i] = c.starts[i], c.stops[i], "drained"
		case e.Result != nil && e.conflict:
			starts[i], stops[i], causes[i] = c.starts[i], c.stops[i], "conflict"
		}
		if e.Delay > 0 && e.Fault != nil {
			c.errors[i], c.sqlstates[i] = e.shown(e.Fault, l.encoding())
		}
	}
	var ids []int64
	if err := l.brief(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, l.queries().Text("release"), c.ids, c.versions, c.pids, delays, c.errors,
			c.sqlstates, starts, stops, c.xacts, causes)
		if err != nil {
			return err
		}
		ids, err = movedOf(rows)
		return err
	}); err != nil {
		return err
	}
	l.look.wanted = true
	written := map[int64]string{}
	for _, id := range ids {
		written[id] = "PLAN"
	}
	return l.settle(ctx, ends, written)
}

// movedOf are the ids of the rows that were changed; an error where a trigger has kept one as it was.
func movedOf(rows pgx.Rows) (ids []int64, err error) {
	var id int64
	var moved bool
	_, err = pgx.ForEachRow(rows, []any{&id, &moved}, func() error {
		if !moved {
			return errKept // it is rolled back: the row is as it was read
		}
		ids = append(ids, id)
		return nil
	})
	return ids, err
}

// stopped writes the ends of tasks that were stopped. One that is ours again after all has failed.
func (l *loop) stopped(ctx context.Context, ends []end) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends, l.encoding())
	for i, e := range ends {
		c.errors[i], c.sqlstates[i] = e.shown(stopFailure(e), l.encoding())
	}
	var some []changed
	if err := l.brief(ctx, func(tx pgx.Tx) (err error) {
		some, err = l.withWhatFollows(ctx, tx, l.queries().Text("stopped"), c.ids, c.pids, c.starts, c.stops,
			c.errors, c.sqlstates, c.notices, c.keeps, c.xacts)
		return err
	}); err != nil {
		return err
	}
	written := map[int64]string{}
	for _, c := range some {
		written[c.id] = "STOP"
	}
	for i := range ends {
		if written[ends[i].task.Row.ID] == "" {
			ends[i].Kind, ends[i].Fault = run.Finished, stopFailure(ends[i])
		}
	}
	return l.settle(ctx, ends, written)
}

// stopFailure says of a task that it was stopped.
func stopFailure(e end) *exec.Failure {
	detail := "Its state was set to STOP while it ran."
	if e.Start.IsZero() {
		detail = "Its state was set to STOP before it had started."
	}
	input := ""
	if e.task.Row.Input != nil {
		input = *e.task.Row.Input
	}
	return exec.NewFailure("canceling statement due to user request", "57014", "DETAIL", detail, "STATEMENT", input)
}
