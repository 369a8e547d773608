package run

import (
	"sync/atomic"
	"time"

	"pgtaskd/exec"
)

// Sessions whose queries take microseconds displace each other where they outnumber the server's
// processors, and some of them are enough for all that one controller can take and end. So no more
// than these run such queries at once, however large run is; what follows goes to them, several at
// once (pipeline.go).
const (
	InstantMost = 16
	instantTime = 250 * time.Microsecond // of a query: so many sessions do 64,000 a second
	instantNear = 5 * time.Millisecond   // of an answer to what is sent: with pipelines that is as much
	instantPast = 100 * time.Millisecond // after which a query does not count: it waits, or its session cannot be had
)

// instants counts the tasks of that kind that runners see to. Runners and the loop share it.
type instants struct{ tasks atomic.Int32 }

// Instants is how many queries of that kind runners see to.
func (d *Dispatcher) Instants() int { return int(d.instants.tasks.Load()) }

// Crowd is for tests: until leave, queries of that SQL count as such, and as many as may are at
// work.
func (d *Dispatcher) Crowd(input string) (leave func()) {
	t := &Task{Row: Row{Input: &input}}
	t.Examine()
	for range profileFirm {
		d.profiles.saw(t, time.Microsecond, false, &exec.Result{Open: true})
	}
	d.instants.tasks.Add(InstantMost)
	return func() { d.instants.tasks.Add(-InstantMost) }
}

// crowded tells whether the task is for one of those that are at work already.
func (d *Dispatcher) crowded(t *Task) bool {
	return d.instants.tasks.Load() >= InstantMost && d.profiles.instant(t)
}

// joins counts a task in whose turn it is.
func (d *Dispatcher) joins(t *Task) {
	if d.profiles.instant(t) && t.joined.CompareAndSwap(0, time.Now().UnixNano()) {
		d.instants.tasks.Add(1)
	}
}

// leaves counts it out, when its SQL is over.
func (d *Dispatcher) leaves(t *Task) {
	if t.joined.Swap(0) != 0 {
		d.instants.tasks.Add(-1)
	}
}

// Lasts counts a task out that turns out to take its time.
func (d *Dispatcher) Lasts(t *Task, now time.Time) {
	if since := t.joined.Load(); since != 0 && now.UnixNano()-since >= int64(instantPast) {
		d.leaves(t)
	}
}
