package wake

import (
	"context"
	"sync"
	"time"
)

const (
	lineRetry = 30 * time.Second // at most, between two tries to have a line
	lineCalm  = time.Minute      // what ends a line that has lasted so long is logged again
)

// line is a connection of its own that tells the leader of something. While there is none, it polls.
type line struct {
	Config

	mu    sync.Mutex // guards what follows, and what those add that have a line
	live  bool
	since time.Time // it is live, or has been for the last time
	fresh bool      // it has become live: what was before is not told
}

// lives tells whether all is told now.
func (l *line) lives() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.live
}

func (l *line) set(live bool) {
	l.mu.Lock()
	l.live, l.fresh = live, live
	if live {
		l.since = time.Now()
	}
	l.mu.Unlock()
	l.Poke()
}

// run follows the line until ctx ends. When it is lost it makes another one, and says once why.
func (l *line) run(ctx context.Context, follow func(context.Context) error, say func(error)) {
	told := map[string]bool{}
	for wait := time.Second; ; wait = min(2*wait, lineRetry) {
		err := follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if l.lives() {
			if time.Since(l.since) >= lineCalm {
				wait = time.Second
				clear(told)
			}
			l.set(false)
		}
		if text := err.Error(); !told[text] {
			say(err)
			told[text] = true
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
