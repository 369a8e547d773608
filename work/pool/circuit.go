package pool

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
)

// Where sessions can't be opened: how long until one more is tried, and how long after the last
// vain try it counts as over.
const (
	shortPause = time.Second
	shortOver  = 3 * time.Second
)

// shortage is that of sessions to the target's own database: too many connections, a password that
// has been changed. Tasks go on with those that there are, and wait for them; now and then one more
// is tried. Any goroutine may use it.
type shortage struct {
	log zerolog.Logger

	mu    sync.Mutex
	since time.Time // zero: there is none
	last  time.Time // of the vain tries
	next  time.Time // when to try again
}

// fail takes note that a session could not be opened, while so many were open.
func (s *shortage) fail(err error, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.since.IsZero() {
		s.since = now
		fault.Advised(s.log.Error(), err).Int("sessions", open).Msg("cannot open more sessions; tasks wait for the open ones")
	}
	s.last, s.next = now, now.Add(shortPause)
}

// Short tells whether sessions in the target's own database cannot be opened.
func (s *shortage) Short() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero()
}

// Admit tells whether a session may be opened now: while there is a shortage one from time to time.
func (s *shortage) Admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.next) {
		return false
	}
	s.next = now.Add(shortPause)
	return true
}

// Look logs the end of a shortage: none was tried in vain for a while, as they could be opened
// again, or nobody needs one.
func (s *shortage) Look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() && time.Since(s.last) > shortOver {
		s.log.Info().Str("after", human.Duration(time.Since(s.since))).Msg("sessions available again")
		s.since = time.Time{}
	}
}
