package lane

import (
	"container/heap"
	"math"
	"time"
)

// passMost is how many lanes are passed over each time. A search through 3000 takes 0.4 ms, too
// much for each round of the loop.
const passMost = 16

// quarantine is how long nothing else starts beside a suspect: if the server crashes again, it is
// known who it was.
const quarantine = 10 * time.Second

// Start gives the next task that may start now and that fits accepts, or nil. Its slots are in use
// until Ended. It looks at few lanes that do not fit; Search looks at all of them.
func (s *Lanes[T]) Start(fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.first(fits, passMost)
	return t
}

// Search is Start that looks at all lanes.
func (s *Lanes[T]) Search(fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.first(fits, math.MaxInt)
	return t
}

// first takes the best startable task that fits accepts. Lanes whose first task does not fit are
// passed over, most of them at most.
func (s *Lanes[T]) first(fits func(T) bool, most int) (t T, found bool) {
	if s.closed || s.busy >= s.run || s.isQuiet() {
		return t, false
	}
	s.resumePaused()
	var passed []*lane[T]
	defer func() {
		for _, l := range passed {
			s.place(l)
		}
	}()
	for s.starts.len() > 0 && len(passed) < most {
		l := s.starts.first()
		if top := l.prefetched[0]; s.stale(top.ticket()) || !fits(top) {
			s.starts.drop(l)
			passed = append(passed, l)
			continue
		}
		s.busy++
		return s.pop(l), true
	}
	return t, false
}

// pop starts the first of the lane's prefetched tasks.
func (s *Lanes[T]) pop(l *lane[T]) T {
	t := heap.Pop(&l.prefetched).(T)
	s.prefetched--
	s.counts(l, t.ticket())
	s.runs(l, +1)
	s.place(l)
	if ticket := t.ticket(); ticket.Suspect {
		s.suspect, s.quiet = ticket, s.now().Add(quarantine)
	}
	return t
}

// isQuiet tells whether nothing may start beside the suspect that runs.
func (s *Lanes[T]) isQuiet() bool { return s.suspect != nil && s.now().Before(s.quiet) }
