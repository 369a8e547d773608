package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	beat     = 20 * time.Millisecond  // between two looks at the controllers
	look     = 250 * time.Millisecond // between two looks at the table, and in the first turn between two examples
	pace     = 2 * time.Second        // between two examples after the first turn
	patience = 15 * time.Second       // how long the database may be unreachable
)

// show inserts examples and prints how the tasks get on. It belongs to the goroutine that called
// Run.
type show struct {
	place  *place
	table  *table
	failed <-chan error // why nothing can be served
	pair   *pair
	out    io.Writer

	history  history
	own      *own
	finished bool      // our tasks are stopped
	next     int       // next example to insert
	due      time.Time // when to insert it
	reached  time.Time // when the database last answered
}

func newShow(p *place, t *table, failed <-chan error, both *pair, out io.Writer) *show {
	return &show{
		place: p, table: t, failed: failed, pair: both, out: out,
		history: history{states: map[int64]string{}, ends: map[string]int{}},
		own:     &own{ids: map[int64]struct{}{}},
		reached: time.Now(),
	}
}

// run goes on until stop is closed and the controllers are drained, or until something fails.
func (s *show) run(ctx context.Context, stop <-chan struct{}) (err error) {
	defer func() { fmt.Fprintf(s.out, "Tasks: %s.\n", s.history) }()
	defer func() { err = errors.Join(err, s.finish(context.WithoutCancel(ctx))) }()
	ticker, beats := time.NewTicker(look), time.NewTicker(beat)
	defer ticker.Stop()
	defer beats.Stop()
	for {
		select {
		case <-ticker.C:
			if err := s.step(ctx, stop != nil); err != nil {
				return err
			}
		case <-s.pair.asked:
			if stop != nil {
				s.pair.kill()
			}
		case <-beats.C:
			switch {
			case stop != nil:
				s.pair.tend()
			case s.pair.ended():
				return s.step(ctx, false)
			}
		case <-stop:
			stop = nil
			fmt.Fprintln(s.out, "The demo ends.")
			if err := s.finish(ctx); err != nil {
				return err
			}
			s.pair.drain()
		case err := <-s.failed:
			return err
		}
	}
}

// step does the next step. The database may be unreachable for a while.
func (s *show) step(ctx context.Context, open bool) error {
	err := s.look(ctx)
	if err == nil && open && len(s.place.examples) > 0 && !time.Now().Before(s.due) {
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
	s.own.follow(tasks, s.table.last)
	for _, t := range s.history.take(tasks) {
		// else it starts in a moment, or waits for its turn
		if t.state != "PLAN" || t.plan == nil || t.plan.After(t.seen) {
			t.print(s.out, s.own.yours(t.id))
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
	s.own.add(ids)
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

// finish stops our tasks once: they would delay the end, and run on in somebody else's database.
func (s *show) finish(ctx context.Context) error {
	ids := s.own.list()
	if s.finished || len(ids) == 0 {
		return nil
	}
	if err := s.table.stop(ctx, ids); err != nil {
		return fmt.Errorf("stopping the examples that repeat themselves: %w", err)
	}
	s.finished = true
	return nil
}
