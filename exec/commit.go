package exec

import (
	"errors"

	"pgtaskd/exec/text"
)

// readTail reads the answers to the n statements of a tail. passed: COMMIT has failed, and the
// server has skipped what was sent after it.
func (s *Session) readTail(tail *Tail, n int) (verdict *Verdict, passed bool, err error) {
	committed, ended := false, false
	failure, err := s.wire.answers(n, nil, func(tag []byte) {
		committed = string(tag) == "COMMIT"
		ended = committed || string(tag) == "ROLLBACK"
	})
	switch {
	case err != nil:
		return nil, false, err
	case failure != nil:
		return &Verdict{Failure: text.ServerFailure(failure, tail.Input)}, true, s.setup.rollback()
	case !ended:
		return nil, false, &Lost{Cause: errors.New("the server has not answered COMMIT"), Broken: true}
	case !committed:
		return &Verdict{Failure: text.NewFailure("the transaction could not be committed", "40000")}, false, nil
	}
	return &Verdict{Committed: true}, false, nil
}

// End commits the task before, when none comes after it.
func (s *Session) End(tail *Tail) (*Verdict, error) {
	s.wire.within(s.wire.limit)
	defer s.wire.unlimited()
	s.setup.commit(false)
	s.wire.sync()
	n := s.wire.queued()
	if err := s.wire.flush(); err != nil {
		return nil, err
	}
	verdict, passed, err := s.readTail(tail, n)
	if err == nil && !passed {
		err = s.wire.synced()
	}
	return verdict, err
}

// Rollback undoes what the SQL of the open transaction has done. On an error, a *Lost, it is undone
// as well.
func (s *Session) Rollback() error {
	s.wire.within(s.wire.limit)
	defer s.wire.unlimited()
	return s.setup.rollback()
}

// Reset makes the session new now, so that the next Begin need not.
func (s *Session) Reset() error {
	if !s.setup.state.dirty {
		return nil
	}
	s.wire.within(s.wire.brief)
	defer s.wire.unlimited()
	s.setup.reset()
	failure, err := s.wire.exchange(nil)
	if err == nil && failure != nil {
		err = &Lost{Cause: text.ServerFailure(failure, "")}
	}
	return err
}
