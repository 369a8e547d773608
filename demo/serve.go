package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/routine"
	"pgtaskd/work"
	"pgtaskd/work/target"
)

// controller serves the table in this process, on its own goroutine.
type controller struct {
	failed chan error    // why it cannot begin
	done   chan struct{} // closed when nothing is served any more

	stop     chan struct{}
	stopping bool // stop is closed
}

// serve begins to serve the target, until end is called or ctx ends.
func serve(ctx context.Context, t work.Target, log zerolog.Logger, watch conf.Watch) *controller {
	c := &controller{failed: make(chan error, 1), done: make(chan struct{}), stop: make(chan struct{})}
	crew := routine.New(ctx)
	crew.Go(func() {
		defer close(c.done)
		_ = conf.RunTargets(ctx, []work.Target{t}, log, conf.Options{Serve: c.serve, Stop: c.stop, Watch: watch, Tasks: target.LogNone}) // only ctx makes it fail
	})
	return c
}

// serve is work.Serve, but the demo itself reports why it cannot begin.
func (c *controller) serve(ctx context.Context, stop <-chan struct{}, t work.Target, log zerolog.Logger) error {
	faults := work.Check(ctx, t).Faults
	if len(faults) == 0 || ctx.Err() != nil {
		return work.Serve(ctx, stop, t, log)
	}
	c.failed <- fmt.Errorf("serving %s: %s", t.Name(), strings.Join(faults, "; "))
	select {
	case <-stop:
	case <-ctx.Done():
	}
	return nil
}

// drain asks the controller to end; done tells when it has. One goroutine may call it several
// times.
func (c *controller) drain() {
	if !c.stopping {
		c.stopping = true
		close(c.stop)
	}
}

// end drains the controller and waits for its end.
func (c *controller) end() {
	c.drain()
	<-c.done
}
