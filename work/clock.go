package work

import (
	"sync/atomic"
	"time"
)

// clock is the server's, as well as we know it: what decides about tasks is the server's time, ours only measures how long to
// sleep. Any goroutine may use it.
type clock struct{ ahead atomic.Int64 }

// now is the server's time.
func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// until is how long it takes until the server's clock shows t.
func (c *clock) until(t time.Time) time.Duration { return t.Sub(c.now()) }

// set takes a reading of the server's clock that was asked for between two moments of ours.
func (c *clock) set(server, asked, answered time.Time) {
	c.ahead.Store(int64(server.Sub(asked.Add(answered.Sub(asked) / 2))))
}
