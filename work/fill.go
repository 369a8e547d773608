package work

// add makes a due task known; one that is known already is passed over. The names are not kept, nor made strings where the lane is known.
func (s *lanes) add(group, remote []byte, r rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.last
	if l == nil || l.key.group != string(group) || l.key.remote != string(remote) {
		known, ok := s.all[laneKey{string(group), string(remote)}]
		if !ok {
			known = s.lane(laneKey{string(group), string(remote)})
		}
		l, s.last = known, known
	}
	if !s.only && s.known.add(r.id) {
		l.ready = append(l.ready, r)
		l.ready.up(len(l.ready) - 1)
		s.ready++
		if l.ready.top().id == r.id { // the lane's place depends on its first task alone
			s.place(l)
		}
	}
	if s.filling != nil && s.filling.add(r.id) {
		l.fresh = append(l.fresh, r)
		if s.only {
			s.gathered++
		}
	}
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
	if s.filling = nil; only || s.ready > 0 {
		s.filling = newIDSet()
	}
}

// filled puts what was gathered in the place of what was known. A task that was claimed meanwhile may be among it: its
// second claim will find nothing.
func (s *lanes) filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling == nil {
		return
	}
	s.known, s.filling, s.ready = s.filling, nil, 0
	s.only, s.gathered = false, 0
	for key, l := range s.all {
		l.ready, l.fresh = l.fresh, nil
		l.ready.order()
		s.ready += len(l.ready)
		s.place(l)
		s.prune(key, l)
	}
}
