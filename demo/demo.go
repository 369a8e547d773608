package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/web"
)

// Options say where the demo runs and whom it tells.
type Options struct {
	// DSN is the connection string of a database that is there; "" starts a throw-away server
	// instead.
	DSN string
	Out io.Writer // gets a line for each change of a task
	Log zerolog.Logger
	// Version is the program's, for the metrics.
	Version string
	// Stop ends the demo when it is closed.
	Stop <-chan struct{}
}

// readyLimit bounds the time until the table is there; making it takes a moment, somebody else's
// locks may take longer.
const readyLimit = 30 * time.Second

// Run shows tasks at work until options.Stop is closed, and then returns nil. When ctx ends it
// returns at once, with the cause. In either case the throw-away server is gone then, with all its
// files; in a database of somebody else's the examples stay, but none of them will run any more.
func Run(ctx context.Context, options Options) (err error) {
	starting, cancel := untilClosed(ctx, options.Stop)
	defer cancel()
	place, err := find(starting, options)
	if err != nil {
		return unlessStopped(starting, err)
	}
	defer func() { err = errors.Join(err, place.leave(options.Out)) }()
	table, err := open(starting, place.target.Connect)
	if err != nil {
		return unlessStopped(starting, err)
	}
	defer table.close()

	site := web.New(zerolog.Nop(), options.Version)
	defer site.Close()
	if err := site.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	controller := serve(ctx, place.target, options.Log, site)
	defer controller.end()
	if err := awaitReady(starting, controller, table); err != nil {
		return unlessStopped(starting, err)
	}
	greet(options.Out, place, table.version, site.URL()+"/metrics")
	return newShow(place, table, controller, options.Out).run(ctx, options.Stop)
}

// awaitReady waits until the controller has made the table, and notes where its tasks end now.
func awaitReady(ctx context.Context, c *controller, t *table) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit,
		fmt.Errorf("public.task is not there after %s", human.Duration(readyLimit)))
	defer cancel()
	for {
		if installed, err := t.installed(ctx); err != nil {
			return err
		} else if installed {
			return t.begin(ctx)
		}
		select {
		case err := <-c.failed:
			return err
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errStopped = errors.New("stopped")

// untilClosed is ctx, ended also when stop is closed, with errStopped as the cause.
func untilClosed(ctx context.Context, stop <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	crew := routine.New(ctx)
	crew.Go(func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-ctx.Done():
		}
	})
	return crew.Context(), func() {
		cancel(nil)
		crew.Wait()
	}
}

// unlessStopped is err, unless it came of the demo's being ended, which is no failure when somebody
// asked for it.
func unlessStopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
