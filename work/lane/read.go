package lane

import "slices"

// Add makes a due task ready, if it is not. It keeps none of the bytes. An empty remote is the
// target's own database.
func (s *Lanes[T]) Add(group, remote []byte, r Rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.named(group, remote)
	// The lane's place depends on its first task alone.
	if s.ready.add(l, r) && l.ready[0].ID == r.ID {
		s.order.place(l)
	}
}

// Enter makes a task ready that has been ended and waits again.
func (s *Lanes[T]) Enter(task T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Slots.IsClosed() {
		t := task.ticket()
		l := s.index.of(t.Lane)
		s.ready.add(l, t.Rank)
		s.order.place(l)
	}
}

// Fill starts to gather all that is due, beside what is known, so that tasks whose priority, group
// or plan was changed find their place. Until Filled, Add counts for both. Fill forgets empty lanes.
func (s *Lanes[T]) Fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.index.all {
		l.fresh = nil
		s.index.prune(l)
	}
	s.index.gates.tidy(s.order.now())
	s.index.groups.tidy(s.order.now())
	if s.ready.filling = nil; s.ready.n > 0 { // else there is nothing to replace
		s.ready.filling = idSet{}
	}
}

// Filled replaces what was known by what was gathered. It leaves out what has been read since: tasks
// that cannot be read again would stand before all others of their lane until each has been tried.
func (s *Lanes[T]) Filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready.filled(s.index.all) {
		for _, l := range s.index.all {
			s.order.place(l)
		}
	}
}

// Prefetchable tells whether Choose would find anything.
func (s *Lanes[T]) Prefetchable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order.resume()
	l, free := s.order.next(), s.Slots.most()+s.order.ahead > s.Slots.busy+s.prefetched.n
	return !s.Slots.IsClosed() && l != nil && (free || l.outranked() || s.order.unheard())
}

// Choose picks the ids of the tasks to be read now, in order: those that may start, and some that
// will be wanted before the next read comes back. There are at most so many, and one of each lane
// that would wait for others otherwise. Prefetched must follow.
func (s *Lanes[T]) Choose(most int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.order.resume(); s.Slots.IsClosed() {
		return nil
	}
	var ids []int64
	size, used := s.Slots.most()+s.order.ahead, s.Slots.busy+s.prefetched.n
	spare, most := min(most, 2*size-used), min(most, size-used)
	// What is prefetched in an outranked lane waits for what is ready there. So these lanes come
	// first, and there is room for one task of each at least.
	for l := s.order.next(); l != nil; l = s.order.next() {
		if len(ids) >= most && !(l.outranked() && (l.fetching == 0 || len(ids) < spare)) {
			break
		}
		ids = append(ids, s.choose(l))
	}
	for more := s.Slots.most(); more > 0 && s.order.unheard(); more-- {
		ids = append(ids, s.choose(s.order.fetches.first()))
	}
	return ids
}

func (s *Lanes[T]) choose(l *lane[T]) int64 {
	id := s.ready.choose(l)
	s.order.place(l)
	s.order.mayTry(l)
	return id
}

// Prefetched brings the tasks that were read, chosen or not, and ends what Choose began.
func (s *Lanes[T]) Prefetched(tasks []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.ready.chosen {
		l.fetching = 0
	}
	for _, t := range tasks {
		l := s.index.of(t.ticket().Lane)
		s.prefetched.add(l, t)
		s.order.place(l)
		s.ready.filling.remove(t.ticket().Rank.ID)
	}
	for _, l := range s.ready.chosen {
		if l.trying() && len(l.prefetched) == 0 {
			s.order.tries(l.gate, nil)
		}
		s.order.place(l)
	}
	clear(s.ready.chosen)
	s.ready.chosen = s.ready.chosen[:0]
}

// Stocked tells whether more than n tasks are prefetched, and none of them waits for a ready one.
func (s *Lanes[T]) Stocked(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.order.fetches.first()
	return s.prefetched.n > n && (first == nil || !first.outranked())
}

// Unread makes tasks ready again that were read too long ago and have not started, or all of them.
func (s *Lanes[T]) Unread(all bool) (old []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old = s.prefetched.age(all)
	for _, t := range old {
		l := s.index.of(t.ticket().Lane)
		s.ready.add(l, t.ticket().Rank)
		s.order.place(l)
	}
	return old
}

// Drop takes out a task that is prefetched; false when it has started or is not known.
func (s *Lanes[T]) Drop(t T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.of(t.ticket().Lane)
	i := slices.IndexFunc(l.prefetched, func(other T) bool { return other.ticket() == t.ticket() })
	if i >= 0 {
		s.prefetched.remove(l, i)
		s.order.place(l)
	}
	return i >= 0
}
