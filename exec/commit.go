package exec

import (
	"errors"

	"pgtaskd/exec/text"
)

// readTail reads the answers to the n statements of a tail. When the server has passed over what
// was sent after it, it is ready.
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

// End does what Begin does for the task before, when none comes after it.
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

// Rollback takes back what the SQL has done whose transaction is open. The error is a *Lost: then it
// is taken back as well.
func (s *Session) Rollback() error {
	s.wire.within(s.wire.limit)
	defer s.wire.unlimited()
	return s.setup.rollback()
}

// Reset makes the session new, which the next Begin need not do then.
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
