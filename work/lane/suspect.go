package lane

import "time"

// A suspect is a task during which the server has crashed before. Nothing else starts while it is
// young. After that the lanes are open to the others for as long as they have waited for it: however
// many suspects there are, the others have half of the time.

// quarantine is how long nothing else starts beside a suspect: if the server crashes again, it is
// known who it was.
const quarantine = 10 * time.Second

// suspects is what the lanes remember of them. Lanes owns it.
type suspects[T Holder] struct {
	runs  *Ticket               // the one that started last, until it ends; nil: none
	began time.Time             // when that did
	quiet time.Time             // until then nothing starts beside it
	open  time.Time             // until then none of them starts; zero: one may
	known *idSet                // ids of those that were read and are ready again; nil: none
	held  map[*lane[T]]struct{} // lanes in which one was read that waits for the others
}

// starts takes note of a suspect that starts.
func (s *suspects[T]) starts(t *Ticket, now time.Time) {
	s.runs, s.began, s.quiet, s.open = t, now, now.Add(quarantine), now.Add(2*quarantine)
}

// ends takes note that the one has ended, or not begun after all. What others have waited for it
// they have now.
func (s *suspects[T]) ends(now time.Time) {
	if s.runs = nil; now.Before(s.quiet) {
		s.open = now.Add(now.Sub(s.began))
	}
}

// isQuiet tells whether nothing may start: beside the suspect that runs, or at all.
func (s *Lanes[T]) isQuiet() bool {
	return s.halted || s.suspects.runs != nil && s.now().Before(s.suspects.quiet)
}

// waitsForOthers tells whether the lane's first task is a suspect that must not start yet.
func (s *Lanes[T]) waitsForOthers(l *lane[T]) bool {
	if s.suspects.open.IsZero() {
		return false
	}
	if !s.now().Before(s.suspects.open) {
		s.suspects.open = time.Time{}
		return false
	}
	switch {
	case len(l.prefetched) > 0 && !l.outranked():
		return l.prefetched.first().Suspect
	case len(l.ready) > 0:
		return s.suspects.known != nil && s.suspects.known.has(l.ready.top().ID)
	}
	return false
}

// holdBack takes out a lane whose first task is a suspect that waits for the others.
func (s *Lanes[T]) holdBack(l *lane[T]) {
	if len(l.prefetched) > 0 && l.prefetched.first().Suspect {
		s.suspects.held[l] = struct{}{}
	}
	delete(s.outranked, l)
	s.pauses(l, s.suspects.open)
	if l.trying() && l.fetching+l.running == 0 {
		s.untry(l)
	}
}

// unreadSuspects takes out the suspects that wait for the others, so that there is room to read
// those. They are ready again, and known for what they are.
func (s *Lanes[T]) unreadSuspects() (old []T) {
	for l := range s.suspects.held {
		delete(s.suspects.held, l)
		if !s.waitsForOthers(l) {
			continue
		}
		old = append(old, s.unreadThose(l, func(t *Ticket) bool { return t.Suspect })...)
	}
	return old
}

// readyAgain takes note of a task that was read and is ready again.
func (s *suspects[T]) readyAgain(t *Ticket) {
	if !t.Suspect {
		return
	}
	if s.known == nil {
		s.known = newIDSet()
	}
	s.known.add(t.Rank.ID)
}

// forget drops what is known of tasks that wait.
func (s *suspects[T]) forget() {
	s.known = nil
	clear(s.held)
}
