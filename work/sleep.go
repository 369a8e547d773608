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
func (l *loop) sleep(ctx context.Context, stop <-chan struct{}) error {
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
	d := l.doze()
	if d <= 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			l.drain.step()
		default:
		}
		return nil
	}
	if l.drain.on() {
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
		l.drain.step()
	}
	if l.drain.on() {
		l.drain.step()
	}
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
