package lane

import (
	"container/heap"
	"time"
)

// freshMargin is how much older than fresh a task may be that starts.
const freshMargin = 500 * time.Millisecond

// stale tells whether the task must not start as it was read: its row may have changed, or it is
// not worth running any more.
func (s *Lanes[T]) stale(t *Ticket) bool {
	return time.Since(t.Read) >= s.fresh+freshMargin ||
		!t.Expires.IsZero() && s.now().After(t.Expires)
}

// reading says in which lanes there are tasks that were read at about one time.
type reading[T Holder] struct {
	at    time.Time // by our clock
	lanes []*lane[T]
}

// readingSpan is how far the times of one reading are apart.
const readingSpan = 50 * time.Millisecond

// noteRead takes down that the lane has a task which is to be looked at again.
func (s *Lanes[T]) noteRead(l *lane[T]) {
	n := len(s.readings)
	if n == 0 || time.Since(s.readings[n-1].at) > readingSpan {
		s.readings = append(s.readings, reading[T]{at: time.Now()})
		n++
	}
	last := &s.readings[n-1]
	if k := len(last.lanes); k == 0 || last.lanes[k-1] != l {
		last.lanes = append(last.lanes, l)
	}
}

// Unread takes out the tasks that were read so long ago and have not started, or all of them. They
// are ready again. A reading is done with when all its tasks are as old as that: else those that
// came last would stay, and keep their lanes from starting anything.
func (s *Lanes[T]) Unread(fresh time.Duration, all bool) (old []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fresh = fresh
	before := time.Now().Add(-fresh)
	for len(s.readings) > 0 && (all || s.readings[0].at.Add(readingSpan).Before(before)) {
		for _, l := range s.readings[0].lanes {
			old = append(old, s.unreadIn(l, before, all)...)
		}
		s.readings[0].lanes = nil
		s.readings = s.readings[1:]
	}
	return old
}

func (s *Lanes[T]) unreadIn(l *lane[T], before time.Time, all bool) (old []T) {
	for i := 0; i < len(l.prefetched); {
		t := l.prefetched[i]
		if ticket := t.ticket(); !all && !ticket.Read.Before(before) && !s.stale(ticket) {
			i++
			continue
		}
		heap.Remove(&l.prefetched, i)
		i = 0
		s.prefetched--
		s.makeReady(l, t.ticket().Rank)
		old = append(old, t)
	}
	if len(old) > 0 {
		s.untryIdle(l)
		s.place(l)
	}
	return old
}

// Enter makes a task ready that has been ended and waits again.
func (s *Lanes[T]) Enter(task T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		t := task.ticket()
		l := s.lane(t.Lane)
		s.makeReady(l, t.Rank)
		s.place(l)
	}
}
