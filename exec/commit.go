package exec

import "errors"

// sendTail queues the COMMIT of the task before.
func (s *Session) sendTail(tail *Tail, chained bool) {
	switch {
	case tail == nil:
	case chained:
		s.call("COMMIT AND CHAIN")
	default:
		s.call("COMMIT")
	}
}

// readTail reads the answers to the n statements of a tail. When the server has passed over what
// was sent after it, it is ready.
func (s *Session) readTail(tail *Tail, n int) (verdict *Verdict, passed bool, err error) {
	committed, ended := false, false
	_, failure, err := s.answers(n, nil, func(tag []byte) {
		committed = string(tag) == "COMMIT"
		ended = committed || string(tag) == "ROLLBACK"
	})
	switch {
	case err != nil:
		return nil, false, err
	case failure != nil:
		return &Verdict{Failure: serverFailure(failure, tail.Input)}, true, s.rollback()
	case !ended:
		return nil, false, &Lost{Cause: errors.New("the server has not answered COMMIT"), Broken: true}
	case !committed:
		return &Verdict{Failure: NewFailure("the transaction could not be committed", "40000")}, false, nil
	}
	return &Verdict{Committed: true}, false, nil
}

// rollback ends a transaction in which something has failed, if that has not ended it.
func (s *Session) rollback() error {
	s.dirty = true
	if s.status == 'I' {
		return nil
	}
	s.query("ROLLBACK")
	if err := s.flush(); err != nil {
		return err
	}
	if _, err := s.answer(sink{}); err != nil {
		return err
	}
	if s.status != 'I' {
		return &Lost{Cause: errors.New("the transaction could not be rolled back")}
	}
	return nil
}

// Rollback takes back what the SQL has done whose transaction is open. The error is a *Lost: then it
// is taken back as well.
func (s *Session) Rollback() error {
	s.limited(true)
	defer s.limited(false)
	return s.rollback()
}

// End does what Begin does for the task before, when none comes after it.
func (s *Session) End(tail *Tail) (*Verdict, error) {
	s.limited(true)
	defer s.limited(false)
	s.sendTail(tail, false)
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return nil, err
	}
	verdict, passed, err := s.readTail(tail, n)
	if err == nil && !passed {
		err = s.synced()
	}
	return verdict, err
}
