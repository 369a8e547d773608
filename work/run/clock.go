package run

import (
	"sync/atomic"
	"time"
)

// Clock is the server's, as well as we know it, and never fast: what decides about tasks is the
// server's time, ours only measures how long to sleep. Any goroutine may use it.
type Clock struct {
	ahead atomic.Int64 // nanoseconds
	read  bool         // of the goroutine that calls set
}

// Now is the server's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Until is how long it takes until the server's clock shows t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Set takes a reading of the server's clock that was asked for between two moments of ours. It
// tells how far the server's is ahead at least (if the answer took no time) and at most; the best
// reading so far stays, as long as it can be true.
func (c *Clock) Set(server, asked, answered time.Time) {
	least, most := int64(server.Sub(answered)), int64(server.Sub(asked))
	for ahead := c.ahead.Load(); (!c.read || ahead < least || ahead > most) && !c.ahead.CompareAndSwap(ahead, least); ahead = c.ahead.Load() {
	}
	c.read = true
}

// heard takes in a moment that the server's clock has shown by now: what we say later is not before
// it. Otherwise a task of a lane would seem to have begun, by our reading, before the end of the
// one before it, by the server's.
func (c *Clock) heard(server time.Time) {
	for ahead, least := c.ahead.Load(), int64(time.Until(server)); ahead < least && !c.ahead.CompareAndSwap(ahead, least); ahead = c.ahead.Load() {
	}
}
