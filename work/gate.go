package work

import "time"

// gate stands before all lanes of one remote. It is shut until a session has been opened there, and
// again when a server has given no answer: then one task tries, outside of run, and the others wait,
// so that a server that does not answer keeps no task of another from its turn. At most run gates
// are tried at once, since a table can name any number of remotes. lanes owns it.
type gate struct {
	lanes map[*lane]struct{}
	shut  bool
	until time.Time // when to try again, by the server's clock
	tries *lane     // whose task is chosen, read or under way to try it; nil: none. See setTries
}

// gateOf is the gate of a remote; nil: there is none before the target's own database.
func (s *lanes) gateOf(remote string) *gate {
	if remote == "" {
		return nil
	}
	g := s.gates[remote]
	if g == nil {
		g = &gate{lanes: map[*lane]struct{}{}, shut: true}
		s.gates[remote] = g
	}
	return g
}

// leave forgets a lane before its gate.
func (s *lanes) leave(l *lane) {
	if l.gate != nil {
		delete(l.gate.lanes, l)
	}
}

// sweep forgets the gates that stand before nothing, once they need not remember when to be tried.
func (s *lanes) sweep() {
	now := s.now()
	for remote, g := range s.gates {
		if len(g.lanes) == 0 && !now.Before(g.until) {
			delete(s.crowded, g)
			delete(s.gates, remote)
		}
	}
}

// barred tells whether the lane must wait for its gate: for that moment, or, if it is zero, until a
// try has ended.
func (s *lanes) barred(l *lane) (barred bool, until time.Time) {
	g := l.gate
	switch {
	case g == nil || !g.shut || g.tries == l:
		return false, time.Time{}
	case g.tries != nil:
		return true, time.Time{}
	case s.now().Before(g.until):
		return true, g.until
	case s.trying >= s.run:
		s.crowded[g] = struct{}{}
		return true, time.Time{}
	}
	return false, time.Time{}
}

// trying tells whether the lane's task tries the gate: no other is to be read meanwhile.
func (l *lane) trying() bool { return l.gate != nil && l.gate.tries == l }

// try makes the lane the one that tries the gate, if that is shut.
func (s *lanes) try(l *lane) {
	if l.gate != nil && l.gate.shut && l.gate.tries == nil {
		s.setTries(l.gate, l)
	}
}

// tryout gives a task that is to try a gate, or nil. It needs no place in run, so it waits for none.
func (s *lanes) tryout(fits func(*task) bool) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.isQuiet() {
		return nil
	}
	s.resumePaused()
	for l := range s.tryouts {
		if barred, _ := s.barred(l); barred {
			s.place(l)
			continue
		}
		if t := l.prefetched.top(); !s.stale(t) && fits(t) {
			s.try(l)
			t := s.pop(l)
			t.tries = true
			return t
		}
	}
	return nil
}

// untry ends a try from which nothing has been learned.
func (s *lanes) untry(l *lane) {
	if l.gate != nil && l.gate.tries == l {
		s.setTries(l.gate, nil)
	}
}

// setTries is the only place where a try begins or ends. One that ends makes room for another gate.
func (s *lanes) setTries(g *gate, l *lane) {
	ends := g.tries != nil && l == nil
	if ends {
		s.trying--
	} else if g.tries == nil && l != nil {
		s.trying++
	}
	g.tries = l
	s.placeAll(g)
	if !ends {
		return
	}
	admitted := 0
	for other := range s.crowded {
		if admitted++; admitted > 2*s.run { // more than can try: the rest comes with the next end
			return
		}
		delete(s.crowded, other)
		s.placeAll(other)
	}
}

func (s *lanes) placeAll(g *gate) {
	for l := range g.lanes {
		s.place(l)
	}
}

// opened says that the task has a session to its remote: the others may have theirs.
func (s *lanes) opened(t *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.tries {
		t.tries = false
		s.busy++
	}
	g := s.gates[t.lane.remote]
	if g == nil || !g.shut {
		return
	}
	g.shut, g.until = false, time.Time{}
	s.setTries(g, nil)
}

// shut says that the remote of a task gives no answer, and when to try again. It returns the tasks
// that were read for it and are to be given back. The task itself keeps its slot until it is ended.
func (s *lanes) shut(t *task, until time.Time) (read []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gates[t.lane.remote]
	if g == nil {
		return nil
	}
	g.shut, g.until = true, until
	for l := range g.lanes {
		for _, t := range l.prefetched {
			s.waiting--
			read = append(read, t)
		}
		l.prefetched = nil
	}
	s.setTries(g, nil)
	return read
}
