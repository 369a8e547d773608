package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/conf"
	"pgtaskd/human"
	"pgtaskd/routine"
	"pgtaskd/web"
	"pgtaskd/web/page"
)

// Options tell where the demo runs and where it writes.
type Options struct {
	// DSN is the connection string of an existing database; "" starts a throw-away server.
	DSN   string
	Empty bool      // insert no examples
	Out   io.Writer // gets a line for each change of a task
	Log   zerolog.Logger
	// Version is the program's version, for the metrics.
	Version string
	// Close Stop to end the demo.
	Stop <-chan struct{}
}

// readyLimit bounds the time until the table is there. Making it takes a moment; locks of others
// may make it longer.
const readyLimit = 30 * time.Second

// Run shows tasks at work until options.Stop is closed, and then returns nil. If ctx ends, it
// returns at once with the cause. In both cases the throw-away server and its files are gone
// afterwards. In somebody else's database the examples stay, but do not run any more.
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
	pair := newPair(func(name string, first bool) *controller { return serve(ctx, name, first, place.target, options.Log) }, site, options.Out)
	defer pair.end()
	first := pair.add()
	show := newShow(place, table, first.failed, pair, options.Out)
	site.Demo = &page.Demo{Yours: show.own.yours, Kill: pair.ask}
	visitor := conf.User{Name: "you", Token: rand.Text(), Operator: true}
	if err := site.Listen(conf.HTTP{Listen: "127.0.0.1:0", Users: []conf.User{visitor}}); err != nil {
		return err
	}
	if err := awaitReady(starting, first, table); err != nil {
		return unlessStopped(starting, err)
	}
	pair.add() // not sooner: two would make the table at the same time
	greet(options.Out, place, table.version, site.URL(), visitor.Token)
	return show.run(ctx, options.Stop)
}

// awaitReady waits until the controller has made the table, and records the last id in it.
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

// untilClosed returns a context that also ends when stop is closed, with the cause errStopped.
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

// unlessStopped returns err, or nil if the demo was stopped: then the error is no failure.
func unlessStopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errStopped):
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return err
}
