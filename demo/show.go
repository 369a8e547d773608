package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

const (
	look     = 250 * time.Millisecond // between two looks at the table, and in the first turn between two examples
	pace     = 2 * time.Second        // between two examples after the first turn
	patience = 15 * time.Second       // how long the database may be unreachable
)

// show inserts examples and prints how the tasks get on. It belongs to the goroutine that called
// Run.
type show struct {
	place      *place
	table      *table
	controller *controller
	out        io.Writer

	history history
	ours    map[int64]struct{} // the demo's tasks in somebody else's database, including repetitions
	next    int                // next example to insert
	due     time.Time          // when to insert it
	reached time.Time          // when the database last answered
}

func newShow(p *place, t *table, c *controller, out io.Writer) *show {
	return &show{
		place: p, table: t, controller: c, out: out,
		history: history{states: map[int64]string{}, ends: map[string]int{}},
		ours:    map[int64]struct{}{},
		reached: time.Now(),
	}
}

// run goes on until stop is closed and the controller is drained, or until something fails.
func (s *show) run(ctx context.Context, stop <-chan struct{}) (err error) {
	defer func() { fmt.Fprintf(s.out, "Tasks: %s.\n", s.history) }()
	defer func() { err = errors.Join(err, s.finish(context.WithoutCancel(ctx))) }()
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for {
		if err := s.step(ctx, stop != nil); err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-stop:
			stop = nil
			fmt.Fprintln(s.out, "The demo ends.")
			if err := s.finish(ctx); err != nil {
				return err
			}
			s.controller.drain()
		case err := <-s.controller.failed:
			return err
		case <-s.controller.done:
			return s.step(ctx, false)
		}
	}
}

// step does the next step. The database may be unreachable for a while.
func (s *show) step(ctx context.Context, open bool) error {
	err := s.look(ctx)
	if err == nil && open && !time.Now().Before(s.due) {
		err = s.insert(ctx)
	}
	switch {
	case err == nil:
		s.reached = time.Now()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.table.refused(err) || time.Since(s.reached) > patience:
		return err
	}
	return nil
}

// look prints what has changed since the last look.
func (s *show) look(ctx context.Context) error {
	tasks, err := s.table.tasks(ctx)
	if err != nil {
		return err
	}
	for _, t := range tasks { // parents come first
		if _, ours := s.ours[t.parent]; ours {
			s.own(t.id)
		}
	}
	for _, t := range s.history.take(tasks) {
		// else it starts in a moment, or waits for its turn
		if t.state != "PLAN" || t.plan == nil || t.plan.After(t.seen) {
			t.print(s.out)
		}
	}
	return nil
}

func (s *show) insert(ctx context.Context) error {
	all := s.place.examples
	first := s.next < len(all)
	for !first && all[s.next%len(all)].once {
		s.next++
	}
	e := all[s.next%len(all)]
	ids, err := s.table.insert(ctx, e)
	if err != nil {
		return fmt.Errorf("inserting example %s: %w", e.name, err)
	}
	for _, id := range ids {
		s.own(id)
	}
	s.next++
	if s.next == len(all) {
		fmt.Fprintf(s.out, "Each example has been inserted once; now again and again. To look at them:\n%s\n", s.place.command())
	}
	s.due = time.Now()
	if !first {
		s.due = s.due.Add(pace)
	}
	return nil
}

// own records that a task is ours, if that matters at the end.
func (s *show) own(id int64) {
	if s.place.server == nil {
		s.ours[id] = struct{}{}
	}
}

// finish stops our tasks once, so that none runs in somebody else's database any more.
func (s *show) finish(ctx context.Context) error {
	if len(s.ours) == 0 {
		return nil
	}
	ids := slices.Collect(maps.Keys(s.ours))
	if err := s.table.stop(ctx, ids); err != nil {
		return fmt.Errorf("stopping the examples that repeat themselves: %w", err)
	}
	clear(s.ours)
	return nil
}
