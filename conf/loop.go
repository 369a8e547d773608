package conf

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/rs/zerolog"

	"pgtask/work"
)

// Serve serves one target until stop is closed, and then drains it and returns
// nil; work.Serve is one. When ctx ends it returns at once. Any other return is
// a failure, after which it is called again.
type Serve func(ctx context.Context, stop <-chan struct{}, t work.Target, log zerolog.Logger) error

// wellAfter is how long a target must have been served for its failures to be
// over: longer than it takes to find out that a server does not answer.
const wellAfter = 30 * time.Second

var errEnded = errors.New("ended without being told to")

// panicked is the failure of a loop that has panicked.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// loop serves one target, and tries again whenever that fails. Its methods run
// on a goroutine of its own.
type loop struct {
	target work.Target
	serve  Serve
	log    zerolog.Logger
	stop   <-chan struct{}

	failures int // in a row
	report   report
}

// run returns when stop is closed and the target drained, or when ctx ends.
func (l *loop) run(ctx context.Context) {
	for {
		err := l.serveWatched(ctx)
		if l.stopped(ctx) {
			if err != nil && ctx.Err() == nil {
				l.log.Error().Err(err).Msg("target failed while it drained")
			}
			return
		}
		if err == nil {
			err = errEnded
		}
		l.failures++
		next := pause(l.failures, err)
		l.report.failed(l.log, err, next)
		if !l.wait(ctx, next) {
			return
		}
	}
}

// serveWatched serves once, and notes when that has gone well for a while.
func (l *loop) serveWatched(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- l.serveCaught(ctx) }()
	well := time.NewTimer(wellAfter)
	defer well.Stop()
	select {
	case err := <-ended:
		return err
	case <-well.C:
		l.failures = 0
		l.report.well(l.log)
		return <-ended
	}
}

// serveCaught turns a panic into an error, so that one target's bug leaves the
// others alone.
func (l *loop) serveCaught(ctx context.Context) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicked{value, debug.Stack()}
		}
	}()
	return l.serve(ctx, l.stop, l.target, l.log)
}

func (l *loop) stopped(ctx context.Context) bool {
	select {
	case <-l.stop:
		return true
	default:
		return ctx.Err() != nil
	}
}

// wait reports whether the time has passed without an order to stop.
func (l *loop) wait(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.stop:
		return false
	case <-ctx.Done():
		return false
	}
}
