package work

import (
	"crypto/sha256"
	"time"
)

// laneKey tells lanes apart: by the group's and the remote's own text, or, as there may be many lanes, by what stands for a long one and for no
// other.
type laneKey struct {
	group  string
	remote string // "" is the target's own database
}

// nameMost is the longest name that a lane keeps, in bytes.
const nameMost = 100

func laneOf(group, remote string) laneKey { return laneKey{brief(group), brief(remote)} }

// brief is a name, or what stands for it.
func brief(name string) string {
	if len(name) <= nameMost {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x00" + string(sum[:]) // which no name of the server's has
}

// rank is a waiting task's place in its lane: larger max first, then higher priority, then lower id.
type rank struct {
	id       int64
	max      int32
	priority int32
}

func (a rank) before(b rank) bool {
	if a.max != b.max {
		return a.max > b.max
	}
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	return a.id < b.id
}

// lane is all that a controller knows of the tasks with one group and one remote. lanes owns it.
type lane struct {
	key        laneKey
	gate       *gate          // before its remote; nil: it has none
	ready      readyHeap      // due, in PLAN
	fresh      readyHeap      // what a fill under way has found, in no order
	prefetched prefetchedHeap // read, not started
	fetching   int            // chosen for the read under way
	best       rank           // of those, the one that comes first
	running    int            // slots in use: by tasks that we have started, or an old leader's
	recent     int            // ended of late, which tells how far ahead of it is read

	ended   time.Time     // when a task of the lane last ended, by the server's clock; zero: never, as far as we know
	planned time.Time     // that task's plan
	pause   time.Duration // the longest that was asked for here

	at [2]int // places in the heaps of lanes, -1: not there
}

// room tells whether a task with this max may start while busy tasks of its lane run.
func room(maximum int32, busy int) bool { return busy <= int(max(maximum, 0)) }

// fetchable tells whether the first of the ready tasks may start once it is read, or will soon be wanted.
func (l *lane) fetchable(ahead int) bool {
	if len(l.ready) == 0 {
		return false
	}
	top := l.ready.top()
	switch {
	case l.outranked() && top.max < 0:
		return room(top.max, l.running+l.fetching)
	case l.outranked():
		return room(top.max, l.running+l.fetching-min(l.recent, ahead))
	case top.max < 0:
		return room(top.max, l.running+len(l.prefetched)+l.fetching)
	default:
		return room(top.max, l.running+len(l.prefetched)+l.fetching-min(l.recent, ahead))
	}
}

// startable tells whether the first of the read tasks may start.
func (l *lane) startable() bool {
	return len(l.prefetched) > 0 && room(l.prefetched.top().rank.max, l.running) && !l.outranked() && !l.overtaken()
}

// outranked tells whether a task that is still to be read comes before all those that are: they wait for it.
func (l *lane) outranked() bool {
	return len(l.ready) > 0 && len(l.prefetched) > 0 && l.ready.top().before(l.prefetched.top().rank)
}

// overtaken tells whether a task whose read is under way comes before all those that are read: they wait for it.
func (l *lane) overtaken() bool {
	return l.fetching > 0 && len(l.prefetched) > 0 && l.best.before(l.prefetched.top().rank)
}

// pauseEnds is when the lane's first task may start, if it asks for a pause: with drift, when the pause has passed since the end of
// the one before; without, at the first multiple of the pause after that end, counted from the plan of the one before.
// Whether a task drifts is known once it is read; before that the earlier of the two holds.
func (l *lane) pauseEnds() time.Time {
	var maximum int32
	var drift bool
	switch {
	case len(l.prefetched) > 0 && !l.outranked():
		maximum, drift = l.prefetched.top().rank.max, l.prefetched.top().row.Drift
	case len(l.ready) > 0:
		maximum = l.ready.top().max
	}
	if maximum >= 0 {
		return time.Time{}
	}
	pause := time.Duration(-int64(maximum)) * time.Millisecond
	l.pause = max(l.pause, pause)
	if l.ended.IsZero() {
		return time.Time{}
	}
	if drift || l.planned.IsZero() || l.planned.After(l.ended) {
		return l.ended.Add(pause)
	}
	// In milliseconds: a plan may be further back than a time.Duration reaches.
	every := pause.Milliseconds()
	periods := (l.ended.UnixMicro()-l.planned.UnixMicro())/(1000*every) + 1
	return time.UnixMicro(l.planned.UnixMicro() + periods*every*1000)
}
