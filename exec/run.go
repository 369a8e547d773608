package exec

import (
	"cmp"
	"errors"
	"time"

	"pgtaskd/exec/text"
)

// Begin sends everything for a task in one flush: the COMMIT of the task before (tail may be nil),
// what makes the session ready, and the task's SQL, with as many of then after it as Behind tells.
// It reads the answers to all that precedes the SQL, which is under way then; start is when it
// began, by the server's clock. If something before the SQL fails, the server skips the SQL. The
// error is a *Lost, a *text.Failure (the task has not started), or ErrUnclaimed. A verdict that is
// not nil counts in any case.
func (s *Session) Begin(tail *Tail, t *Task, then ...*Task) (verdict *Verdict, start time.Time, err error) {
	if t.Guarded {
		if err := s.Present(); err != nil {
			return nil, start, err
		}
	}
	s.sends(tail, t)
	defer s.wire.unlimited()
	for {
		before := s.setup.state
		sent, err := s.sendTask(tail, t, then)
		if err != nil {
			return nil, start, s.wire.unbegun(err)
		}
		if tail != nil {
			var passed bool
			if verdict, passed, err = s.readTail(tail, sent.tail); err != nil {
				return verdict, start, s.wire.unbegun(err)
			}
			s.sends(nil, t)
			if tail = nil; passed {
				s.pipeline.behind = nil
				s.setup.state.passedOver(before)
				continue
			}
		}
		start, failure, err := s.setup.read(sent.prepared)
		switch {
		case err != nil:
			return verdict, start, s.wire.unbegun(err)
		case failure == nil:
			return verdict, start, s.begun(t)
		}
		s.pipeline.behind = nil
		if s.setup.state.passedOver(before); failure.Code == queryCanceled { // by a limit that earlier SQL has left
			return verdict, start, &Lost{Cause: text.ServerFailure(failure, t.Input), Unbegun: true}
		}
		return verdict, start, text.ServerFailure(failure, t.Input)
	}
}

// sendTask queues and sends what Begin needs, and counts its statements.
func (s *Session) sendTask(tail *Tail, t *Task, then []*Task) (q queued, err error) {
	s.wire.written = false
	chained := tail != nil && s.setup.chains(t)
	if tail != nil {
		s.setup.commit(chained)
	}
	q.tail = s.wire.queued()
	s.setup.prepare(t, chained, time.Time{})
	q.prepared = s.wire.queued()
	return q, s.sendInput(t, then)
}

// sends limits the time for the answers to what precedes the task's SQL. The COMMIT of the task
// before may take as long as triggers of users do.
func (s *Session) sends(tail *Tail, t *Task) {
	s.wire.reader.Greeted()
	switch {
	case tail != nil:
		s.wire.within(s.wire.limit)
	case t.Sending > 0:
		s.wire.within(t.Sending)
	default:
		s.wire.within(s.wire.brief)
	}
}

// sendInput sends what is queued, the task's SQL and the question. A task that may read from us, or
// that is asked before it starts, is sent alone: nothing may wait after its SQL.
func (s *Session) sendInput(t *Task, then []*Task) error {
	s.pipeline = pipeline{last: t} // nothing is left of a task whose preparation has failed
	if t.alone() {
		s.wire.sync()
		return s.wire.flush()
	}
	s.wire.input(t.Input)
	switch {
	case len(then) > 0 && t.pipelined():
		s.pipeline.probing = s.question.askAhead(t)
		s.sendBehind(then)
		return s.wire.flush()
	case t.Atomic:
		s.pipeline.probing = s.question.ask(t)
	}
	s.wire.sync()
	return s.wire.flush()
}

// begun starts the time of a task whose session is ready. If it is sent alone, its SQL is sent now.
func (s *Session) begun(t *Task) error {
	if t.alone() {
		if err := s.sendAlone(t); err != nil {
			return err
		}
	}
	if err := s.wire.landed(); err != nil {
		return err
	}
	s.cancel.enter(t.Timeout)
	return nil
}

func (s *Session) sendAlone(t *Task) error {
	if err := s.wire.synced(); err != nil {
		return notBegun(err)
	}
	if t.Claim != nil {
		unclaimed, err := s.question.claims(t)
		if failure := new(text.Failure); unclaimed || errors.As(err, &failure) {
			if lost := s.Rollback(); lost != nil {
				return notBegun(lost)
			}
			return cmp.Or(err, ErrUnclaimed)
		}
		if err != nil {
			return notBegun(err)
		}
		s.sends(nil, t) // the task may have taken longer
	}
	s.wire.query(t.Input)
	if t.Atomic && !t.Traits.Stdin {
		s.pipeline.probing = s.question.ask(t)
		s.wire.sync()
	}
	return s.wire.flush()
}
