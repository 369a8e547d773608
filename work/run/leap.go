package run

import (
	"math/rand/v2"
	"sync/atomic"
)

// Leap is how many ids a repetition passes over at most before it draws one: 0, but where somebody
// has taken ids that come next, in a transaction that is open or was a moment ago. Such an id cannot
// be seen, and the INSERT of the repetition waits for it. Each that has met one makes the leap
// longer, and each that has met none shorter. Any goroutine may use it.
type Leap struct{ most atomic.Int64 }

const (
	leapTimes = 16
	leapMost  = 1 << 16 // the server takes some 10 ms for so many
)

// Most is the leap as it is now.
func (l *Leap) Most() int64 { return l.most.Load() }

// Met takes note of an id that was taken, where this was the leap.
func (l *Leap) Met(most int64) {
	l.most.CompareAndSwap(most, min(max(leapTimes*most, leapTimes), leapMost))
}

// Passed takes note of a repetition that has come about, where this was the leap.
func (l *Leap) Passed(most int64) {
	if most > 0 {
		l.most.CompareAndSwap(most, most/2)
	}
}

// Skipped is how many ids one draw passes over, so that nobody can foresee which comes next.
func Skipped(most int64) int64 {
	if most == 0 {
		return 0
	}
	return most/2 + rand.N(most/2+1)
}

// How long a repetition waits for a lock in its task's transaction. The task runs again after that,
// and if another transaction was in the way of its end as well, that waits as long as any statement
// of ours, unless ids are known to be taken.
const (
	firstWait = "1s"
	leapWait  = "100ms"
)

// waits is the limit of a repetition's locks; nil: that of the end.
func (t *Task) waits(leap int64) *string {
	wait := firstWait
	switch {
	case t.Again > 0 && (leap == 0 || t.Row.Key != nil):
		return nil
	case leap > 0:
		wait = leapWait
	}
	return &wait
}
