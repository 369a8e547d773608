package lane

import "time"

// Pass ends a task and starts the next one that fits accepts, in one: nobody else gets in between.
// When there is none, it gives nil, and the task holds what it held, until Ended. at is as in
// Ended.
func (s *Lanes[T]) Pass(task T, at time.Time, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	l := s.lane(t.Lane)
	if !at.IsZero() {
		l.ended, l.planned = at, t.Plan
	}
	if t.counted {
		s.uncounts(l, t, at)
	}
	suspect := s.suspect
	s.hold(l, t, -1)
	if suspect == t {
		s.suspect = nil
	}
	next, found := s.first(fits, passMost)
	if !found {
		s.hold(l, t, +1)
		s.suspect = suspect
		return next
	}
	t.passed = true
	l.recent++
	s.place(l)
	s.prune(t.Lane, l)
	return next
}

// hold gives back (n is -1), or takes again (+1), what a task holds.
func (s *Lanes[T]) hold(l *lane[T], t *Ticket, n int) {
	if !t.passed {
		s.runs(l, n)
		if !t.left && !t.tries {
			s.busy += n
		}
	}
	s.place(l)
}

// Ended gives back what a task still holds when its end is known, at a time by the server's clock
// (zero: it never ran).
func (s *Lanes[T]) Ended(task T, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	l := s.lane(t.Lane)
	if s.suspect == t {
		s.suspect = nil
	}
	if !at.IsZero() {
		l.ended, l.planned = at, t.Plan
	}
	if t.counted {
		s.uncounts(l, t, at)
	}
	if !t.passed {
		l.recent++
	}
	s.hold(l, t, -1)
	if t.tries {
		t.tries = false
		s.untry(l)
	}
	s.prune(t.Lane, l)
}

// Occupy counts a run that is not ours, an old leader's, in its lane; Vacate ends that.
func (s *Lanes[T]) Occupy(key Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(key)
	s.runs(l, +1)
	s.busy++
	s.place(l)
}

// Vacate undoes Occupy, when the run has ended.
func (s *Lanes[T]) Vacate(key Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(key)
	s.runs(l, -1)
	s.busy--
	l.ended = s.now()
	s.place(l)
}
