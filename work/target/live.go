package target

import (
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/schedule"
)

// Live are the settings of a target that take effect without a drain: nothing that runs is
// cancelled for them.
type Live struct {
	Sleep       time.Duration // between polls where nothing wakes the controller
	Grace       time.Duration // how long a drain lets running tasks go on; 0 cancels them at once
	Idle        time.Duration // how long a session without work is kept; 0 closes it at once
	Run         int           // most tasks running at once, at least 1
	OutputLimit int64         // bytes
	OutputFail  bool          // a task whose output is over the limit fails; else the output is cut
	Keep        Keep          // how long ended tasks are kept; nil: for ever
}

// Adopt returns t with those settings of another that take effect without a drain.
func (t Target) Adopt(other Target) Target {
	t.Live = other.Live
	return t
}

// Kept are the states in which a task has ended, in the order in which statements take them.
var Kept = [...]string{"DONE", "FAIL", "GONE", "STOP"}

// Keep says how long ended tasks are kept, by state. Those of a state that it lacks are kept for
// ever.
type Keep map[string]schedule.Interval

// Ages are the times as statements take them.
func (k Keep) Ages() []pgtype.Interval {
	ages := make([]pgtype.Interval, len(Kept))
	for i, state := range Kept {
		age, ok := k[state]
		ages[i] = pgtype.Interval{Months: int32(age.Months), Days: int32(age.Days), Microseconds: age.Micros, Valid: ok}
	}
	return ages
}

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
