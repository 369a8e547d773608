package work

import "time"

// gate stands before all lanes of one remote. It is shut until a session has been opened there, and again when one could not be: then one task tries, outside of run, and
// the others wait, so that a server that does not answer keeps no task of another from its turn. lanes owns it.
type gate struct {
	lanes map[*lane]struct{}
	shut  bool
	until time.Time // when to try again, by the server's clock
	tries *lane     // whose task is chosen, taken or under way to try it; nil: none
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

// leave forgets a lane, and the gate with its last one, if nothing stands against a new one.
func (s *lanes) leave(l *lane) {
	if l.gate == nil {
		return
	}
	if delete(l.gate.lanes, l); len(l.gate.lanes) == 0 && s.now().After(l.gate.until) {
		delete(s.gates, l.key.remote)
	}
}

// barred tells whether the lane must wait for the gate: for another lane's try, or, if until is not zero, for that moment.
func (l *lane) barred(now time.Time) (barred bool, until time.Time) {
	g := l.gate
	switch {
	case g == nil || !g.shut || g.tries == l:
		return false, time.Time{}
	case g.tries != nil:
		return true, time.Time{}
	case now.Before(g.until):
		return true, g.until
	}
	return false, time.Time{}
}

// trying tells whether the lane's task tries the gate: no other is to be taken meanwhile.
func (l *lane) trying() bool { return l.gate != nil && l.gate.tries == l }

// try makes the lane the one that tries the gate, if that is shut.
func (s *lanes) try(l *lane) {
	if l.gate != nil && l.gate.shut && l.gate.tries == nil {
		l.gate.tries = l
		s.placeAll(l.gate)
	}
}

// untry ends a try from which nothing has been learned.
func (s *lanes) untry(l *lane) {
	if l.gate != nil && l.gate.tries == l {
		l.gate.tries = nil
		s.placeAll(l.gate)
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
	g.shut, g.until, g.tries = false, time.Time{}, nil
	s.placeAll(g)
}

// shut says that no session to the remote could be opened, and when to try again. It returns the tasks that were taken and are to be given back. The task that tried keeps its
// slot until it is ended.
func (s *lanes) shut(remote string, until time.Time) (taken []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gates[remote]
	if g == nil {
		return nil
	}
	g.shut, g.until, g.tries = true, until, nil
	for l := range g.lanes {
		for _, t := range l.taken {
			s.waiting--
			taken = append(taken, t)
		}
		l.taken = nil
	}
	s.placeAll(g)
	return taken
}
