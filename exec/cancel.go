package exec

import (
	"context"
	"sync"
	"time"

	"pgtaskd/routine"
)

// Reason says why a run was cancelled.
type Reason int

// The reasons to cancel a run.
const (
	NotCancelled Reason = iota
	TimedOut            // it outlived its timeout
	Stopped             // its row was set to STOP, or deleted
	Drained             // the controller ends
)

// Obey is how long a cancelled run may take to end before it is abandoned, as docs/reference.md says of
// `timeout`.
const Obey = 10 * time.Second

// canceller lets others cancel the run under way. The session sets the first four fields before its
// first task.
type canceller struct {
	obey    time.Duration // Obey
	request func(context.Context) error
	cut     func()         // abandons the session
	crew    *routine.Group // what it starts belongs to

	timeout func() bool // stops the timer of the run under way; the session's goroutine owns it

	mu        sync.Mutex
	running   bool      // an input is with the server
	began     time.Time // since then
	reason    Reason
	over      chan struct{} // of a run that is cancelled: closed when it has ended
	delivered chan struct{} // closed when no request is on its way any more
	abandon   func() bool   // stops the timer that abandons the session
}

func (c *canceller) cancel(reason Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.running || c.reason != NotCancelled {
		return
	}
	c.reason = reason
	over, delivered := make(chan struct{}), make(chan struct{})
	c.over, c.delivered = over, delivered
	c.abandon = c.crew.After(c.obey, c.cut)
	young := time.Since(c.began) < missedFor
	c.crew.Go(func() { // awaited by exit, too
		defer close(delivered)
		ctx, cancel := context.WithTimeout(context.Background(), c.obey)
		defer cancel()
		for pause := missedWait; ; pause *= 2 {
			_ = c.request(ctx) // a request that fails leaves the run to be abandoned
			if !young {
				return
			}
			select {
			case <-over:
				return
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	})
}

// A server ignores a request that comes while it still reads the statement. For a run younger than
// missedFor the request is repeated after missedWait, and then ever more rarely, so that SQL can
// clean up after a cancel.
const (
	missedFor  = time.Second
	missedWait = 250 * time.Millisecond
)

// enter and exit enclose the time in which a run can be cancelled. When exit has returned, no
// cancel of ours is on its way. The server's own statement_timeout comes first if it can.
func (c *canceller) enter(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.began, c.reason = true, time.Now(), NotCancelled
	if limit > 0 {
		c.timeout = c.crew.After(min(limit, mostTimeout)+5*time.Millisecond, func() { c.cancel(TimedOut) })
	}
}

// mostTimeout is longer than any run, and short enough to add to it.
const mostTimeout = 100 * 365 * 24 * time.Hour

func (c *canceller) exit() Reason {
	c.mu.Lock()
	c.running = false
	reason, delivered := c.reason, c.delivered
	c.delivered = nil
	if delivered != nil {
		close(c.over)
	}
	if c.abandon != nil {
		c.abandon()
		c.abandon = nil
	}
	c.mu.Unlock()
	if c.timeout != nil {
		c.timeout()
		c.timeout = nil
	}
	if delivered != nil {
		<-delivered
	}
	return reason
}

// runs tells whether an input is with the server, and asked whether it has been cancelled.
func (c *canceller) runs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

func (c *canceller) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reason != NotCancelled
}
