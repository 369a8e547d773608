package lane

import "time"

// place puts a lane where it now belongs. It is called after each change of a lane.
func (s *Lanes[T]) place(l *lane[T]) {
	if barred, until := s.barred(l); barred {
		delete(s.outranked, l)
		delete(s.pausing, l)
		s.pauses(l, until)
		return
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
	delete(s.pausing, l)
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
	if !until.IsZero() {
		if len(s.pausing) == 0 || until.Before(s.resume) {
			s.resume = until
		}
		s.pausing[l] = struct{}{}
	}
	s.fetches.drop(l)
	s.starts.drop(l)
	delete(s.tryouts, l)
}

// resumePaused puts back the lanes whose pause is over.
func (s *Lanes[T]) resumePaused() {
	if len(s.pausing) == 0 || s.now().Before(s.resume) {
		return
	}
	paused := s.pausing
	s.pausing = map[*lane[T]]struct{}{}
	for l := range paused {
		s.place(l)
	}
}

// Wake is when the next pause ends, by the server's clock; false when no task waits for one.
func (s *Lanes[T]) Wake() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isQuiet() {
		return s.quiet, true
	}
	return s.resume, len(s.pausing) > 0
}
