package demo

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/rs/zerolog"

	"pgtask/conf"
	"pgtask/work"
)

// controller serves the table in this process, on a goroutine of its own.
type controller struct {
	failed chan error    // the first failure, if it comes before settled
	done   chan struct{} // closed when nothing is served any more

	settled  atomic.Bool // from now on failures are logged, and it tries again
	stop     chan struct{}
	stopping bool // stop is closed
}

// serve begins to serve the target, until end or until ctx ends.
func serve(ctx context.Context, t work.Target, log zerolog.Logger) *controller {
	c := &controller{failed: make(chan error, 1), done: make(chan struct{}), stop: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = conf.RunTargets(ctx, []work.Target{t}, log, conf.Options{Serve: c.serve, Stop: c.stop}) // only ctx makes it fail
	}()
	return c
}

// serve is work.Serve, but its first failure is for the demo to tell.
func (c *controller) serve(ctx context.Context, stop <-chan struct{}, t work.Target, log zerolog.Logger) error {
	err := work.Serve(ctx, stop, t, log)
	if err == nil || c.settled.Load() {
		return err
	}
	c.failed <- fmt.Errorf("serving %s: %w", t.Name(), err)
	select {
	case <-stop:
	case <-ctx.Done():
	}
	return nil
}

// drain has it end, which done tells. It may be called more than once, by one goroutine.
func (c *controller) drain() {
	if !c.stopping {
		c.stopping = true
		close(c.stop)
	}
}

// end drains it and waits for its end.
func (c *controller) end() {
	c.drain()
	<-c.done
}
