package pool

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/human"
)

// Where sessions can't be opened: how long until one more is tried, at most, and how long after the
// last vain try it counts as over.
const (
	shortPause = 3 * time.Second
	shortOver  = 2 * shortPause
)

// shortage is that of sessions to the target's own database: too many connections, a password that
// has been changed. Tasks go on with those that there are, and wait for them; now and then one more
// is tried. Any goroutine may use it.
type shortage struct {
	log    zerolog.Logger
	failed func(error) *zerolog.Event

	mu    sync.Mutex
	said  map[string]bool // failures that were logged, by text; nil: there is no shortage
	since time.Time
	last  time.Time // of the vain tries
	next  time.Time // when to try again
	pause time.Duration

	had    bool // one could be opened since the last vain try
	trying bool // one is tried alone
}

// fail takes note that a session could not be opened, while so many were open.
func (s *shortage) fail(err error, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.said == nil {
		s.said, s.since, s.had = map[string]bool{}, now, true
	}
	switch {
	case s.had:
		s.pause = shortPause / 8
		s.next = now.Add(s.pause)
	case s.trying: // else it is one of many that were tried at once
		s.pause = min(2*s.pause, shortPause)
		s.next = now.Add(s.pause)
	}
	s.trying = false
	s.last, s.had = now, false
	if !s.said[err.Error()] {
		s.said[err.Error()] = true
		s.failed(err).Int("sessions", open).Msg("cannot open more sessions; tasks wait for the open ones")
	}
}

// succeed takes note that a session could be opened.
func (s *shortage) succeed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.had = true
}

// lasts tells whether there is one.
func (s *shortage) lasts() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said != nil
}

// admit tells whether a session may be opened now: while there is a shortage one from time to time,
// until that goes well.
func (s *shortage) admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.had {
		return true
	}
	if now.Before(s.next) {
		return false
	}
	s.next, s.trying = now.Add(s.pause), true
	return true
}

// look logs the end of a shortage: none was tried in vain for a while, as they could be opened
// again, or nobody needs one.
func (s *shortage) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said != nil && time.Since(s.last) > shortOver {
		s.said = nil
		s.log.Info().Str("after", human.Duration(time.Since(s.since))).Msg("sessions available again")
	}
}
