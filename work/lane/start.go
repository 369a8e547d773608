package lane

import "math"

// Choose picks the ids of the tasks to be read now, in order: those that may start, and some that
// will be wanted before the next read comes back. They are most at most, but for one of each lane
// that would wait for others otherwise. It must be followed by Prefetched.
func (s *Lanes[T]) Choose(most int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.resumePaused(); s.closed {
		return nil
	}
	var ids []int64
	spare := min(most, 2*(s.run+s.ahead)-s.busy-s.prefetched)
	most = min(most, s.run+s.ahead-s.busy-s.prefetched)
	// What is prefetched in an outranked lane waits for what is ready there: there must be room for
	// that, for one at least. Such lanes come first.
	for l := s.next(); l != nil && (len(ids) < most || l.outranked() && (l.fetching == 0 || len(ids) < spare)); l = s.next() {
		ids = append(ids, s.choose(l))
	}
	for more := 0; more < s.run && s.unheard(); more++ {
		ids = append(ids, s.choose(s.fetches.first()))
	}
	return ids
}

// choose takes the lane's first ready task out, to be read.
func (s *Lanes[T]) choose(l *lane[T]) int64 {
	top := l.ready.remove(0)
	s.known.remove(top.ID)
	s.ready--
	if l.fetching == 0 || top.before(l.best) {
		l.best = top
	}
	if l.fetching++; l.fetching == 1 {
		s.fetched = append(s.fetched, l)
	}
	s.place(l)
	s.try(l)
	return top.ID
}

// next is the first of the lanes to be read; nil: there is none. One of which nothing is to be read
// any more is put aside: its gate cannot be tried now, as others are, or fewer of it end.
func (s *Lanes[T]) next() *lane[T] {
	for len(s.fetches.heap) > 0 {
		l := s.fetches.first()
		if s.mayPrefetch(l) {
			return l
		}
		s.place(l)
	}
	return nil
}

// unheard tells whether the first of the lanes to be read, of which nothing is read, would be the
// next to start: it must not wait for what was read of others, however much that is.
func (s *Lanes[T]) unheard() bool {
	l, next := s.next(), s.starts.first()
	if l == nil || len(l.prefetched)+l.fetching > 0 {
		return false
	}
	if next == nil {
		return true
	}
	a, b := l.ready[0].Priority, next.first().Rank.Priority
	return a > b || a == b && l.running < next.running
}

// Prefetched brings the tasks that were read, which may now start, and ends what Choose began. It
// may also bring tasks that were not chosen.
func (s *Lanes[T]) Prefetched(tasks []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.fetched {
		l.fetching = 0
	}
	for _, t := range tasks {
		l := s.lane(t.ticket().Lane)
		s.putBack(l, t)
		s.place(l)
		if s.filling != nil {
			s.filling.remove(t.ticket().Rank.ID)
		}
	}
	for _, l := range s.fetched {
		if len(l.prefetched) == 0 {
			s.untry(l)
		}
		s.place(l)
		s.prune(l)
	}
	clear(s.fetched)
	s.fetched = s.fetched[:0]
}

// putBack lets a task wait among the prefetched ones of its lane.
func (s *Lanes[T]) putBack(l *lane[T], t T) {
	l.prefetched.push(t)
	s.holding.lanes[l] = struct{}{}
	s.prefetched++
}

// Drop takes out a task that is prefetched but not started; false when it has started or is not
// known.
func (s *Lanes[T]) Drop(t T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(t.ticket().Lane)
	for i, other := range l.prefetched {
		if other.ticket() == t.ticket() {
			l.prefetched.remove(i)
			s.prefetched--
			s.place(l)
			return true
		}
	}
	return false
}

// Stocked tells whether more than n tasks are prefetched, and none of them waits for a ready one.
func (s *Lanes[T]) Stocked(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.fetches.first()
	return s.prefetched > n && (first == nil || !first.outranked())
}

// Prefetchable tells whether Choose would find anything.
func (s *Lanes[T]) Prefetchable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumePaused()
	l := s.next()
	return !s.closed && l != nil && (s.run+s.ahead > s.busy+s.prefetched || l.outranked() || s.unheard())
}

// mayPrefetch tells whether the lane's first ready task is to be read.
func (s *Lanes[T]) mayPrefetch(l *lane[T]) bool {
	barred, _ := s.barred(l)
	return !barred && !l.trying() && l.prefetchable(min(s.lately(l), s.ahead))
}

// passMost is how many lanes are passed over each time. A search through 3000 takes 0.4 ms, too
// much for each round of the loop.
const passMost = 16

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
	for len(s.starts.heap) > 0 && len(passed) < most {
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
	t := l.prefetched.remove(0)
	s.prefetched--
	s.counts(l, t.ticket())
	s.runs(l, +1)
	s.place(l)
	if ticket := t.ticket(); ticket.Suspect {
		s.suspect, s.quiet = ticket, s.now().Add(quarantine)
	}
	return t
}
