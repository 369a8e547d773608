package work

import (
	"context"
	"time"
)

// How often what is looked at, where nothing asks for it sooner.
const (
	startTick   = 50 * time.Millisecond
	gatherFor   = 3 * time.Millisecond
	gatherStock = 100 // tasks: more than start in that time
)

// sleep waits until there is something to do: a runner's word, a notification, the next plan, the
// end of a pause, or the time for one of the regular looks.
func (l *loop) sleep(ctx context.Context) (err error) {
	l.gather(ctx)
	if !l.drain.on() {
		fell, err := l.wake.FallAsleep(ctx)
		if err != nil {
			return err
		}
		if fell {
			l.leader.want()
		}
	}
	if d := l.doze(); d > 0 {
		heard, cancel := l.wake.Wait(ctx, d)
		select {
		case <-l.inbox.Poked():
		case <-l.target.Changes.Poked():
		case <-l.drain.wanted():
		case err = <-heard:
			heard = nil
		}
		if cancel(); heard != nil {
			err = <-heard
		}
	}
	l.drain.look()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// gather lets ends come together, and room for reads, while runners have enough to go on with: a
// statement for a few rows costs as much as one for twenty.
func (l *loop) gather(ctx context.Context) {
	if !l.runs.Lanes.Stocked(gatherStock) || l.asked() || l.drain.on() {
		return
	}
	select {
	case <-time.After(gatherFor):
	case <-l.inbox.Asked():
	case <-ctx.Done():
	}
}
