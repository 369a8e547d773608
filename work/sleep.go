package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/work/control"
	"pgtaskd/work/wake"
)

// How often what is looked at, where nothing asks for it sooner.
const (
	startTick   = 50 * time.Millisecond
	paceTick    = 50 * time.Millisecond
	gatherFor   = 3 * time.Millisecond
	gatherStock = 100 // tasks: more than start in that time
)

// waker returns what wakes the loop. Its stream has a connection of its own.
func (l *loop) waker() *wake.Waker {
	return wake.New(wake.Config{
		Table: l.target.Relation(), Group: l.crew, Log: l.log.Logger, Sleep: l.target.Sleep, Poke: l.inbox.Wake, Limit: control.Limited,
		Connect: func(ctx context.Context) (*pgconn.PgConn, error) { return control.Stream(ctx, l.target) },
	})
}

// sleep waits until there is something to do: a runner's word, a notification, the next plan, the
// end of a pause, or the time for one of the regular looks.
func (l *loop) sleep(ctx context.Context, stop <-chan struct{}) error {
	l.gather(ctx)
	if l.draining.IsZero() {
		fell, err := l.wake.FallAsleep(ctx)
		if err != nil {
			return err
		}
		if fell {
			l.want()
		}
	}
	d := l.doze()
	if d <= 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			l.drain()
		default:
		}
		return nil
	}
	if !l.draining.IsZero() {
		stop = nil
	}
	heard, cancel := l.wake.Wait(ctx, d)
	defer cancel()
	ends := func() error {
		cancel()
		return <-heard
	}
	var err error
	select {
	case err = <-heard:
	case <-l.inbox.Poked():
		err = ends()
	case <-l.target.Changes.Poked():
		err = ends()
	case <-stop:
		err = ends()
		l.drain()
	}
	if !l.draining.IsZero() {
		l.drain()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// gather lets ends come together, and room for reads, while runners have enough to go on with: a
// statement for a few rows costs as much as one for twenty.
func (l *loop) gather(ctx context.Context) {
	if !l.runs.Lanes.Stocked(gatherStock) || l.asked() || !l.draining.IsZero() {
		return
	}
	select {
	case <-time.After(gatherFor):
	case <-l.inbox.Asked():
	case <-ctx.Done():
	}
}

// silence is how long the control session may still be silent, or say nothing of the table.
func (l *loop) silence() time.Duration { return time.Until(l.speaks()) }

// speaks is when the control session has to look at the table next, whatever else it says. The beats of
// all targets fall together, as far as a beatGrid allows: processes that wake up hundreds of times a
// second cost more than what they do then.
func (l *loop) speaks() time.Time {
	return birth.Add(l.looked.columns.Add(beat).Sub(birth).Truncate(beatGrid))
}

const (
	beat     = 4 * time.Second // the control session is never silent for longer,
	beatGrid = time.Second     // nor for shorter than by this less, where nothing asks for it
)

// birth is where the grid begins, by the clock that nobody sets.
var birth = time.Now()

// pace measures how fast tasks end, which is how far ahead they are read: what ends between four
// looks, so that runners find tasks while the loop has hundreds of ends to write, and must share
// the cores with them.
func (l *loop) pace(context.Context) error {
	passed := time.Since(l.looked.pace)
	if passed < paceTick {
		return nil
	}
	l.looked.pace = time.Now()
	l.runs.Lanes.Pace(min(4*l.looked.count, mostAhead))
	l.looked.count = 0
	return nil
}

// mostAhead bounds the tasks that are read before they can start.
const mostAhead = 3000
