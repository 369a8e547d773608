package work

import (
	"sync/atomic"
	"time"
)

// Sessions whose queries take microseconds displace each other where they outnumber the server's processors, and some of them are enough for all that one
// controller can take and end. So no more than these run such queries at once, however large run is; what follows goes to them, several at once (flight.go).
const (
	instantMost = 16
	instantTime = 250 * time.Microsecond // of a query: so many sessions do 64,000 a second
	instantNear = 5 * time.Millisecond   // of an answer to what is sent: with flights that is as much
	instantPast = 100 * time.Millisecond // after which a query does not count: it waits, or its session cannot be had
)

// instants counts the tasks of that kind that runners see to. Runners and the loop share it.
type instants struct{ tasks atomic.Int32 }

// crowded tells whether the task is for one of those that are at work already.
func (l *loop) crowded(t *task) bool {
	return l.instants.tasks.Load() >= instantMost && l.habits.instant(t)
}

// joins counts a task in whose turn it is.
func (l *loop) joins(t *task) {
	if l.habits.instant(t) && t.joined.CompareAndSwap(0, time.Now().UnixNano()) {
		l.instants.tasks.Add(1)
	}
}

// leaves counts it out, when its SQL is over.
func (l *loop) leaves(t *task) {
	if t.joined.Swap(0) != 0 {
		l.instants.tasks.Add(-1)
	}
}

// lasts counts a task out that turns out to take its time.
func (l *loop) lasts(t *task, now time.Time) {
	if since := t.joined.Load(); since != 0 && now.UnixNano()-since >= int64(instantPast) {
		l.leaves(t)
	}
}
