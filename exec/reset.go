package exec

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
)

// sendReset queues what makes the session new, but for the guard; it leaves a transaction open.
func (s *Session) sendReset() {
	s.usualModes = s.baseUsualModes
	discards := s.hard
	if discards {
		s.callAll(discardAll)
		s.planned, s.hard, s.discarding = "", false, true
		s.rename()
	}
	s.callAll(s.remains.reset(discards))
}

func (s *Session) callAll(statements []*Statement) {
	for _, st := range statements {
		s.call(st)
	}
}

// Reset makes the session new, which the next Begin need not do then.
func (s *Session) Reset() error {
	switch {
	case s.gone != nil:
		return s.gone
	case !s.dirty:
		return nil
	}
	s.limited(true)
	defer s.limited(false)
	s.wary = false
	failure, err := s.resetAlone()
	for tries := (tries{}); err == nil && failure != nil && !tries.over(failure); failure, err = s.resetAlone() {
		if err := s.rollback(); err != nil {
			return err
		}
		if !limit(failure) {
			s.distrust()
			tries.last = true
		}
	}
	if err == nil && failure != nil {
		err = &Lost{Cause: fmt.Errorf("the session could not be reset: %s (SQLSTATE %s)", failure.Message, failure.Code)}
	}
	if err == nil {
		s.isNew()
	}
	return err
}

func (s *Session) resetAlone() (failure *pgproto3.ErrorResponse, err error) {
	s.sendReset()
	if s.clean {
		s.call(&Statement{"pgtaskd_clean", "SELECT " + guardReset})
	}
	s.call(commit)
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return nil, err
	}
	if _, failure, err = s.answers(n, nil, nil); err == nil && failure == nil {
		err = s.synced()
	}
	return failure, err
}
