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
	s.hold(l, t, -1)
	suspect := s.suspect
	s.ends(t)
	next, found := s.first(fits, passMost)
	if !found {
		s.hold(l, t, +1)
		s.suspect = suspect
		return next
	}
	t.passed = true
	s.hasEnded(l)
	s.place(l)
	s.prune(l)
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
	s.ends(t)
	if !at.IsZero() {
		l.ended, l.planned = at, t.Plan
	}
	if t.counted {
		s.uncounts(l, t, at)
	}
	if !t.passed {
		s.hasEnded(l)
	}
	s.hold(l, t, -1)
	if t.tries {
		t.tries = false
		s.untry(l)
	}
	s.prune(l)
}

// Occupy counts n runs that are not ours, an old leader's, in their lane; below 0: they have ended.
func (s *Lanes[T]) Occupy(key Key, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(key)
	s.runs(l, n)
	if s.busy += n; n < 0 {
		l.ended = s.now()
	}
	s.place(l)
}

// Follow gives the task that comes after another on the same session, whose SQL has run but whose
// end is not yet written, or nil. The place in run passes from one to the other at once; the slot
// of the lane only within the lane, where the session itself keeps the order. Else the slot is in
// use until Ended, as the next task of the lane must see what the one before has done.
func (s *Lanes[T]) Follow(before T, fits func(T) bool) (next T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := before.ticket()
	own := s.lane(b.Lane)
	s.runs(own, -1)
	s.busy--
	s.place(own)
	next, found := s.first(func(t T) bool { // a pause begins with the end that is not yet written
		return (t.ticket().Rank.Max >= 0 || t.ticket().Lane != b.Lane) && fits(t)
	}, passMost)
	s.passes(b, own, next, found)
	return next
}

// passes settles what a task of a lane holds, which it was to pass on to the next: what that has
// not got, it holds again.
func (s *Lanes[T]) passes(b *Ticket, own *lane[T], next T, found bool) {
	switch {
	case !found:
		s.busy++
	case next.ticket().Lane != b.Lane:
		b.left = true
	default:
		b.passed = true
		s.hasEnded(own)
	}
	if !b.passed {
		s.runs(own, +1)
	}
	s.place(own)
}

// Queue gives the task that is to follow on another, which has not run yet, on the same session,
// without a word in between. It is the one that comes next, or nil: where there is room for more
// tasks at once only its own lane may say so, and only of what must wait for one of that lane.
// crowded says that no other session will take tasks of this kind.
func (s *Lanes[T]) Queue(before T, crowded bool, fits func(T) bool) (next T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.isQuiet() {
		return next
	}
	b := before.ticket()
	own := s.lane(b.Lane)
	full := s.busy >= s.run || crowded
	if !full && own.startable() {
		return next
	}
	s.runs(own, -1)
	s.busy--
	s.place(own)
	l := own
	if full {
		s.resumePaused()
		l = s.starts.first()
	}
	found := l != nil && l.at[starting] >= 0 && !s.stale(l.first()) && fits(l.prefetched[0])
	if found {
		s.busy++
		next = s.pop(l)
		next.ticket().era = s.era
	}
	s.passes(b, own, next, found)
	return next
}

// Back undoes Queue, for tasks in the order in which it gave them: the first followed on before,
// which has not been ended. It returns what Rejoin does.
func (s *Lanes[T]) Back(before T, tasks []T) (left []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(tasks) == 0 {
		return nil
	}
	left = s.rejoin(tasks)
	b := before.ticket()
	l := s.lane(b.Lane)
	if s.busy++; b.passed {
		s.runs(l, +1)
	}
	b.passed, b.left = false, false
	s.place(l)
	return left
}

// Rejoin lets tasks wait again that were begun, or were to be, and are not any more; all in one
// call, so that their order is kept. What was read before the last Forget, or rejoins after Close,
// is returned instead, and holds nothing.
func (s *Lanes[T]) Rejoin(tasks []T) (left []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rejoin(tasks)
}

func (s *Lanes[T]) rejoin(tasks []T) (left []T) {
	for _, task := range tasks {
		t := task.ticket()
		l := s.lane(t.Lane)
		s.uncounts(l, t, time.Time{})
		s.hold(l, t, -1)
		t.passed, t.left = s.closed || t.era != s.era, false
		if t.passed {
			left = append(left, task)
			continue
		}
		s.putBack(l, task)
		s.place(l)
	}
	return left
}
