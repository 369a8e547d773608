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
	name   string
	stats  *target.Stats
	shown  []work.Target // for the page
	failed chan error    // why it cannot begin
	done   chan struct{} // closed when nothing is served any more

	cancel   context.CancelFunc
	stop     chan struct{}
	stopping bool // stop is closed
}

// serve begins to serve the target, until end is called or ctx ends. If the target cannot be served
// at first, failed tells why; a controller that stands by tries again instead.
func serve(ctx context.Context, name string, first bool, t work.Target, log zerolog.Logger) *controller {
	ctx, cancel := context.WithCancel(ctx)
	c := &controller{name: name, failed: make(chan error, 1), done: make(chan struct{}), cancel: cancel, stop: make(chan struct{})}
	options := conf.Options{Serve: work.Serve, Stop: c.stop, Tasks: target.LogNone}
	if first {
		options.Serve = c.serve
	}
	shown := make(watch, 1)
	options.Watch = shown
	t.Controller = name
	crew := routine.New(ctx)
	crew.Go(func() {
		defer close(c.done)
		_ = conf.RunTargets(ctx, []work.Target{t}, log.With().Str("controller", name).Logger(), options) // only ctx makes it fail
	})
	c.shown = <-shown
	c.stats = c.shown[0].Stats
	return c
}

// watch gets the targets that RunTargets shows at its start.
type watch chan []work.Target

// Listen does nothing: the demo's page outlives its controllers.
func (w watch) Listen(conf.HTTP) error { return nil }

// Show passes the targets on.
func (w watch) Show(targets []work.Target) { w <- targets }

// Stale does nothing: the demo has no file.
func (w watch) Stale(string) {}

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

func (c *controller) leads() bool { return c.stats.Standing().Leads }

// kill ends the controller at once, as a crash would.
func (c *controller) kill() {
	c.cancel()
	<-c.done
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
	c.cancel()
}
