package work

import (
	"container/heap"
	"time"

	"pgtaskd/sql"
)

// What was read a while ago and has not started is read again when it may start, since its row may have changed. Triggers tell of
// most changes, where there are any.
const (
	freshFor     = 500 * time.Millisecond // it is kept
	freshForLong = 2 * time.Second        // where most changes are told
	freshMargin  = 500 * time.Millisecond // after which it does not start, whoever has it
)

// fresh is how long what was read is kept.
func (l *loop) fresh() time.Duration {
	if l.control.table.TellsChanges && l.wake.Way() != sql.Poll {
		return freshForLong
	}
	return freshFor
}

// stale tells whether the task must not start as it was read: it may be another by now, or not worth running any more.
func (s *lanes) stale(t *task) bool {
	return time.Since(t.read) >= s.fresh+freshMargin || !t.row.Expires.IsZero() && s.now().After(t.row.Expires)
}

// unread forgets what was read a while ago; its lanes remember that it is due. If somebody has changed a row that waits, it forgets all.
func (l *loop) unread() {
	fresh := l.fresh()
	before := time.Now().Add(-fresh)
	if l.control.changed {
		l.control.changed, before = false, time.Now()
		for _, t := range l.soon {
			delete(l.tasks, t.row.ID)
		}
		l.soon, l.look.foreseen = nil, time.Time{}
	}
	for _, t := range l.lanes.unread(fresh, before) {
		delete(l.tasks, t.row.ID)
	}
}

// waitsAgain lets a task wait again that has not begun, and whose row says nothing else.
func (l *loop) waitsAgain(e end) {
	l.gone(e)
	l.lanes.enter(e.task)
}

// reading says in which lanes there are tasks that were read at about one time.
type reading struct {
	at    time.Time // by our clock
	lanes []*lane
}

// readingSpan is how far the times of one reading are apart.
const readingSpan = 50 * time.Millisecond

// noteRead takes down that the lane has a task which is to be looked at again.
func (s *lanes) noteRead(l *lane) {
	n := len(s.readings)
	if n == 0 || time.Since(s.readings[n-1].at) > readingSpan {
		s.readings = append(s.readings, reading{at: time.Now()})
		n++
	}
	last := &s.readings[n-1]
	if k := len(last.lanes); k == 0 || last.lanes[k-1] != l {
		last.lanes = append(last.lanes, l)
	}
}

// unread takes out the tasks that were read before then and have not started: they are due, as they were before they were read. fresh is how long others are kept.
func (s *lanes) unread(fresh time.Duration, before time.Time) (old []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = fresh
	for len(s.readings) > 0 && s.readings[0].at.Before(before) {
		for _, l := range s.readings[0].lanes {
			old = append(old, s.unreadIn(l, before)...)
		}
		s.readings[0].lanes = nil
		s.readings = s.readings[1:]
	}
	return old
}

func (s *lanes) unreadIn(l *lane, before time.Time) (old []*task) {
	for i := 0; i < len(l.prefetched); {
		t := l.prefetched[i]
		if !t.read.Before(before) && !s.stale(t) {
			i++
			continue
		}
		heap.Remove(&l.prefetched, i)
		i = 0
		s.waiting--
		s.makeReady(l, t.rank)
		old = append(old, t)
	}
	if len(old) > 0 {
		s.untryIdle(l)
		s.place(l)
	}
	return old
}

// untryIdle ends the lane's try of its gate when the task that was to try it is there no more.
func (s *lanes) untryIdle(l *lane) {
	if l.trying() && len(l.prefetched)+l.fetching+l.running == 0 {
		s.untry(l)
	}
}

// enter makes a task known that waits again.
func (s *lanes) enter(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		l := s.lane(t.lane)
		s.makeReady(l, t.rank)
		s.place(l)
	}
}
