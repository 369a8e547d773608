package target

import "sync/atomic"

// Changes hands such settings to the loop that serves a target. Any goroutine may use it.
type Changes struct {
	latest atomic.Pointer[Live]
	poke   chan struct{} // capacity 1, so pokes coalesce
}

// NewChanges returns one that says nothing yet.
func NewChanges() *Changes { return &Changes{poke: make(chan struct{}, 1)} }

// Set makes the settings of t those that count.
func (c *Changes) Set(t Target) {
	c.latest.Store(&t.Live)
	c.Poke()
}

// Poke wakes whoever serves the target, if only to look again.
func (c *Changes) Poke() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// Poked tells that there is something to take up.
func (c *Changes) Poked() <-chan struct{} { return c.poke }

// Latest are the settings that were handed over last; nil: none were.
func (c *Changes) Latest() *Live { return c.latest.Load() }
