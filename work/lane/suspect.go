package lane

import "time"

// quarantine is how long nothing else starts beside a suspect, a task during which the server has
// crashed before: if it crashes again, it is known who it was.
const quarantine = 10 * time.Second

// isQuiet tells whether nothing may start: beside the suspect that runs, or at all.
func (s *Lanes[T]) isQuiet() bool {
	return s.halted || s.suspect != nil && s.now().Before(s.quiet)
}

// ends takes note that a task has ended, or has not begun after all.
func (s *Lanes[T]) ends(t *Ticket) {
	if s.suspect == t {
		s.suspect = nil
	}
}
