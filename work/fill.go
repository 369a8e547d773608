package work

import "slices"

// add makes a due task known; one that is known already is passed over. The names are not kept, nor made strings where the lane is known.
func (s *lanes) add(group, remote []byte, r rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.last
	if len(group) > nameMost || len(remote) > nameMost {
		key := laneOf(string(group), string(remote))
		group, remote = []byte(key.group), []byte(key.remote)
	}
	if l == nil || l.key.group != string(group) || l.key.remote != string(remote) {
		known, ok := s.all[laneKey{string(group), string(remote)}]
		if !ok {
			known = s.lane(laneKey{string(group), string(remote)})
		}
		l, s.last = known, known
	}
	if s.makeReady(l, r) && l.ready.top().id == r.id { // the lane's place depends on its first task alone
		s.place(l)
	}
}

// makeReady adds a task to its lane, where it is not known already; true when it has become ready.
func (s *lanes) makeReady(l *lane, r rank) (ready bool) {
	if !s.only && s.known.add(r.id) {
		l.ready = append(l.ready, r)
		l.ready.up(len(l.ready) - 1)
		s.ready++
		ready = true
	}
	if s.filling == nil {
		return ready
	}
	s.drawn.remove(r.id) // it waits again
	if s.filling.add(r.id) {
		l.fresh = append(l.fresh, r)
		if s.only {
			s.gathered++
		}
	}
	return ready
}

// fill starts to gather what is due anew, beside what is known, so that tasks whose priority, group or plan was changed find
// their place; between fill and filled, add counts for both. Where nothing is known there is nothing to replace. With only, what is
// found counts at the end of the fill and not before: nothing of it can start before all is known.
func (s *lanes) fill(only bool) {
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

// filled puts what was gathered in the place of what was known. What has been read since it was seen is left out: tasks that cannot be read again would stand
// before all others of their lane until each has been tried.
func (s *lanes) filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling == nil {
		return
	}
	drawn := s.drawn
	s.known, s.filling, s.drawn, s.ready = s.filling, nil, nil, 0
	s.only, s.gathered = false, 0
	for key, l := range s.all {
		l.ready, l.fresh = slices.DeleteFunc(l.fresh, func(r rank) bool {
			if drawn.has(r.id) {
				s.known.remove(r.id)
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
