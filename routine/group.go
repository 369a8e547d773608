package routine

import (
	"context"
	"sync"
	"time"
)

// Group starts goroutines and awaits them. Its methods may be called from any goroutine.
//
// The first panic in one of them ends the group's context, with a *Panic as the cause. Those that
// follow are taken for its consequences and dropped.
type Group struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	mu    sync.Mutex
	panic *Panic
}

// New returns a group whose context ends with the parent, at End, and at a panic.
func New(parent context.Context) *Group {
	g := &Group{}
	g.ctx, g.cancel = context.WithCancelCause(parent)
	return g
}

// Context ends when the goroutines of the group have to.
func (g *Group) Context() context.Context { return g.ctx }

// Panicked is the first panic; nil while there was none.
func (g *Group) Panicked() *Panic {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.panic
}

// End ends the group's context.
func (g *Group) End() { g.cancel(nil) }

// Wait returns when all that the group has started has ended. What After and When wait for has to
// come, or to be stopped.
func (g *Group) Wait() { g.running.Wait() }

// Go starts a goroutine.
func (g *Group) Go(do func()) {
	g.running.Add(1)
	go func() {
		defer g.running.Done()
		defer g.recovered(nil)
		do()
	}()
}

// Start starts a goroutine and returns where its error comes, or its *Panic.
func (g *Group) Start(do func() error) <-chan error {
	ended := make(chan error, 1)
	g.Go(func() { ended <- g.Call(do) })
	return ended
}

// Call does something in the goroutine of the caller. The error is a *Panic when that panics.
func (g *Group) Call(do func() error) (err error) {
	defer g.recovered(&err)
	return do()
}

// After starts a goroutine when d has passed, unless it is stopped before, which stop reports. One
// of the two must happen for Wait to return.
func (g *Group) After(d time.Duration, do func()) (stop func() bool) {
	g.running.Add(1)
	return g.unless(time.AfterFunc(d, g.counted(do)).Stop)
}

// When starts a goroutine when ctx ends, and else is like After.
func (g *Group) When(ctx context.Context, do func()) (stop func() bool) {
	g.running.Add(1)
	return g.unless(context.AfterFunc(ctx, g.counted(do)))
}

// counted is what a goroutine does that was counted before it started.
func (g *Group) counted(do func()) func() {
	return func() {
		defer g.running.Done()
		defer g.recovered(nil)
		do()
	}
}

// unless does not count any more what has been stopped. The stop that is given returns true once.
func (g *Group) unless(stop func() bool) func() bool {
	return func() bool {
		stopped := stop()
		if stopped {
			g.running.Done()
		}
		return stopped
	}
}

// recovered, deferred, keeps the panic of the function that has deferred it, if it has one.
func (g *Group) recovered(err *error) {
	value := recover()
	if value == nil {
		return
	}
	p := caught(value)
	g.mu.Lock()
	if g.panic == nil {
		g.panic = p
	}
	g.mu.Unlock()
	g.cancel(p)
	if err != nil {
		*err = p
	}
}
