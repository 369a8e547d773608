package lane

import "slices"

// Add makes a due task ready; one that is ready already is passed over. The names are not kept, nor
// made strings where the lane is known. An empty remote is the target's own database.
func (s *Lanes[T]) Add(group, remote []byte, r Rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.last
	if len(group) > nameMost || len(remote) > nameMost {
		key := KeyOf(string(group), string(remote))
		group, remote = []byte(key.group), []byte(key.remote)
	}
	if l == nil || l.key.group != string(group) || l.key.remote != string(remote) {
		known, ok := s.all[Key{string(group), string(remote)}]
		if !ok {
			known = s.lane(Key{string(group), string(remote)})
		}
		l, s.last = known, known
	}
	// The lane's place depends on its first task alone.
	if s.makeReady(l, r) && l.ready.top().ID == r.ID {
		s.place(l)
	}
}

// makeReady adds a task to its lane, where it is not known already; true when it has become ready.
func (s *Lanes[T]) makeReady(l *lane[T], r Rank) (ready bool) {
	if !s.only && s.known.add(r.ID) {
		l.ready = append(l.ready, r)
		l.ready.up(len(l.ready) - 1)
		s.ready++
		ready = true
	}
	if s.filling == nil {
		return ready
	}
	s.drawn.remove(r.ID) // it waits again
	if s.filling.add(r.ID) {
		l.fresh = append(l.fresh, r)
		if s.only {
			s.gathered++
		}
	}
	return ready
}

// Fill starts to gather all that is due, beside what is known, so that tasks whose priority, group
// or plan was changed find their place; between Fill and Filled, Add counts for both. Where nothing
// is known there is nothing to replace. With only, what is found counts at the end of the fill and
// not before: nothing of it can start before all is known.
func (s *Lanes[T]) Fill(only bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.all {
		l.fresh = nil
	}
	s.only, s.gathered = only, 0
	if s.filling, s.drawn = nil, nil; only || s.ready > 0 {
		s.filling, s.drawn = newIDSet(), newIDSet()
	}
}

// Filled puts what was gathered in the place of what was known. What has been read since it was
// seen is left out: tasks that cannot be read again would stand before all others of their lane
// until each has been tried.
func (s *Lanes[T]) Filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling == nil {
		return
	}
	drawn := s.drawn
	s.known, s.filling, s.drawn, s.ready = s.filling, nil, nil, 0
	s.only, s.gathered = false, 0
	for key, l := range s.all {
		l.ready, l.fresh = slices.DeleteFunc(l.fresh, func(r Rank) bool {
			if drawn.has(r.ID) {
				s.known.remove(r.ID)
				return true
			}
			return false
		}), nil
		l.ready.order()
		s.ready += len(l.ready)
		s.place(l)
		s.prune(key, l)
	}
}
