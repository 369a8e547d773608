package lane

import "time"

// place puts a lane where it now belongs. It is called after each change of a lane.
func (s *Lanes[T]) place(l *lane[T]) {
	if barred, until := s.barred(l); barred {
		delete(s.outranked, l)
		s.pauses(l, until)
		return
	}
	if l.group != nil {
		if held, until := l.group.held(s.now()); held {
			delete(s.outranked, l)
			s.pauses(l, until)
			if l.trying() && l.fetching+l.running == 0 { // others may try instead
				s.untry(l)
			}
			return
		}
	}
	if l.outranked() {
		s.outranked[l] = struct{}{}
	} else {
		delete(s.outranked, l)
	}
	ends := l.pauseEnds()
	if !ends.IsZero() && s.now().Before(ends) {
		s.pauses(l, ends)
		return
	}
	s.pausing.drop(l)
	if s.mayPrefetch(l) {
		s.fetches.put(l, l.ready.top(), l.running+len(l.prefetched)+l.fetching)
	} else {
		s.fetches.drop(l)
	}
	delete(s.tryouts, l)
	switch {
	case !l.startable():
		s.starts.drop(l)
	case l.gate != nil && l.gate.shut:
		s.starts.drop(l)
		s.tryouts[l] = struct{}{}
	default:
		s.starts.put(l, l.prefetched.first().Rank, l.running)
	}
}

// pauses takes the lane out until then; zero: until something else puts it back.
func (s *Lanes[T]) pauses(l *lane[T], until time.Time) {
	if until.IsZero() {
		s.pausing.drop(l)
	} else {
		s.pausing.put(l, until)
	}
	s.fetches.drop(l)
	s.starts.drop(l)
	delete(s.tryouts, l)
}

// resumePaused puts back the lanes whose moment has come.
func (s *Lanes[T]) resumePaused() {
	if len(s.pausing) == 0 {
		return
	}
	for now := s.now(); len(s.pausing) > 0 && !now.Before(s.pausing[0].resumes); {
		l := s.pausing[0]
		s.pausing.drop(l)
		s.place(l)
	}
}

// Wake is when the next pause ends, by the server's clock; false when no task waits for one.
func (s *Lanes[T]) Wake() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isQuiet():
		return s.quiet, true
	case len(s.pausing) == 0:
		return time.Time{}, false
	}
	return s.pausing[0].resumes, true
}
