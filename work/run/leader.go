package run

import (
	"context"
	"sync/atomic"
	"time"

	"pgtaskd/exec/text"
)

// Leader is all that runners see of the one who leads the target. Outcome returns at once. The
// others wait until the leader has been at the server, and answer no when ctx ends.
type Leader interface {
	// Outcome tells what was seen of a task that the runner has done with.
	Outcome(o Outcome)
	// Mark has the row show WORK for the session with that process id, before the task starts.
	Mark(ctx context.Context, t *Task, pid int32) Answer
	// Text brings a long text of the row, or its names.
	Text(ctx context.Context, t *Task, pid int32, which Text) Answer
	// Prepare has the row show the transaction that is to commit next on that session; the failure
	// tells why the table refuses it.
	Prepare(ctx context.Context, t *Task, p Preparation) (Prepared, *text.Failure)
	// Leads tells whether it leads, as the server says after the question.
	Leads(ctx context.Context) bool
}

// Text names what the leader is to bring.
type Text int

// What a leader brings.
const (
	Names Text = iota // with the sizes of the texts
	Input
	Data
)

// Answer is what the leader says.
type Answer struct {
	OK      bool
	Refused *text.Failure // the row does not take the mark, or the text cannot be read
	Sizes   *Sizes
	Text    *string // nil: it is too long by now, or there is none
}

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
