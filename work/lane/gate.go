package lane

import "time"

// gate stands before all lanes of one remote. It is shut until a session has been opened there, and
// again when a server has given no answer: then one task tries, outside of run, and the others
// wait, so that a server that does not answer keeps no task of another from its turn. At most run
// gates are tried at once, since a table can name any number of remotes. Lanes owns it.
type gate[T Holder] struct {
	lanes map[*lane[T]]struct{}
	until time.Time // when to try again, by the server's clock
	tries *lane[T]  // whose task is chosen, read or under way to try it; nil: none. See setTries
	shut  bool
}

// gateOf is the gate of a remote; nil: there is none before the target's own database.
func (s *Lanes[T]) gateOf(remote string) *gate[T] {
	if remote == "" {
		return nil
	}
	g := s.gates[remote]
	if g == nil {
		g = &gate[T]{lanes: map[*lane[T]]struct{}{}, shut: true}
		s.gates[remote] = g
	}
	return g
}

// crowdTick, and crowdShare more for each gate there is, is the time after which a gate is looked at
// again that is not tried because run others are: there may be a million.
const (
	crowdTick  = 100 * time.Millisecond
	crowdShare = 10 * time.Microsecond
)

// barred tells whether the lane must wait for its gate: for that moment, or, if it is zero, until a
// try has ended.
func (s *Lanes[T]) barred(l *lane[T]) (barred bool, until time.Time) {
	g := l.gate
	switch {
	case g == nil || !g.shut || g.tries == l:
		return false, time.Time{}
	case g.tries != nil:
		return true, time.Time{}
	case s.now().Before(g.until):
		return true, g.until
	case s.trying >= s.run:
		return true, s.now().Add(crowdTick + time.Duration(len(s.gates))*crowdShare)
	}
	return false, time.Time{}
}

// try makes the lane the one that tries the gate, if that is shut.
func (s *Lanes[T]) try(l *lane[T]) {
	if l.gate != nil && l.gate.shut && l.gate.tries == nil {
		s.setTries(l.gate, l)
	}
}

// Tryout gives a task that is to try a gate, or nil. It needs no place in run, so it waits for
// none.
func (s *Lanes[T]) Tryout(fits func(T) bool) (t T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.isQuiet() {
		return t
	}
	s.resumePaused()
	for l := range s.tryouts {
		if barred, _ := s.barred(l); barred {
			s.place(l)
			continue
		}
		if !s.stale(l.first()) && fits(l.prefetched[0]) {
			s.try(l)
			t = s.pop(l)
			t.ticket().tries = true
			return t
		}
	}
	return t
}

// untry ends a try from which nothing has been learned.
func (s *Lanes[T]) untry(l *lane[T]) {
	if l.gate != nil && l.gate.tries == l {
		s.setTries(l.gate, nil)
	}
}

// setTries is the only place where a try begins or ends.
func (s *Lanes[T]) setTries(g *gate[T], l *lane[T]) {
	switch {
	case g.tries != nil && l == nil:
		s.trying--
	case g.tries == nil && l != nil:
		s.trying++
	}
	g.tries = l
	for l := range g.lanes {
		s.place(l)
	}
}

// Opened says that the task has a session to its remote: the others may have theirs. A task that has
// tried the gate starts only if there is a place in run by now.
func (s *Lanes[T]) Opened(task T) (starts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	if g := s.gates[t.Lane.remote]; g != nil && g.shut {
		g.shut, g.until = false, time.Time{}
		s.setTries(g, nil)
	}
	if t.tries && s.busy >= s.run {
		return false
	}
	if t.tries {
		t.tries = false
		s.busy++
	}
	return true
}

// Shut says that the remote of a task gives no answer, and when to try again, by the server's
// clock. It returns the tasks that were prefetched for it, which lanes do not know any more. The
// task itself keeps its slot until it is ended.
func (s *Lanes[T]) Shut(task T, until time.Time) (read []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.gates[task.ticket().Lane.remote]
	if g == nil {
		return nil
	}
	g.shut, g.until = true, until
	for l := range g.lanes {
		s.prefetched -= len(l.prefetched)
		read = append(read, l.prefetched...)
		l.prefetched = nil
	}
	s.setTries(g, nil)
	return read
}
