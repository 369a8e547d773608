package exec

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Begin sends, in one flush, what finishes the task before (tail may be nil), what makes the
// session new unless the task wants it as it is, and the task's SQL, and reads the answers to all
// but the last: its SQL is under way then, since start by the server's clock. If anything before it
// fails, the server passes over it. The error is a *Lost, or a *Failure of the preparation (the
// task has not started). A verdict that is not nil counts in any case. As many of then follow
// behind it as Behind tells.
func (s *Session) Begin(tail *Tail, t *Task, then ...*Task) (verdict *Verdict, start time.Time, err error) {
	if t.Guarded {
		err = s.Present()
	}
	if err != nil {
		return nil, start, err
	}
	s.sends(tail, t)
	defer s.limited(false)
	for tries := (tries{}); ; {
		if s.gone != nil {
			return verdict, start, s.gone
		}
		sent, err := s.sendTask(tail, t, then)
		if err != nil {
			return nil, start, s.unbegun(err)
		}
		if tail != nil {
			var passed bool
			if verdict, passed, err = s.readTail(tail, sent.tail); err != nil {
				return verdict, start, s.unbegun(err)
			}
			if tail.Ended != nil {
				tail.Ended()
			}
			if s.defers(tail) {
				s.sends(nil, t)
			}
			if tail = nil; passed {
				s.behind = nil
				continue
			}
		}
		start, failure, err := s.readPrepared(sent.prepared)
		if errors.Is(err, errMoment) && t.Atomic && !s.trusted(t) && len(s.behind) == 0 {
			start, err, s.odd = time.Now(), nil, true // what is asked behind its SQL, which is under way, decides
		}
		if failure != nil {
			s.behind = nil
		}
		switch {
		case err != nil:
			return verdict, start, s.unbegun(err)
		case failure == nil:
			s.prepared(t, sent.chained, sent.reset)
			if err = s.sendAlone(t); err == nil {
				err = s.landed()
			}
			if err == nil {
				s.cancel.enter(t.Timeout, s.crew)
			}
			return verdict, start, err
		case tries.over(failure):
			return verdict, start, serverFailure(failure, t.Input)
		case sent.chained && t.Keep: // what it keeps must stay
			s.usualModes = false
		case tries.doubt(failure):
			s.hard = true
			if unclean(failure) || limit(failure) {
				s.distrust()
			}
		}
	}
}

// tries of a task's preparation may fail by what the one before has left: a limit, which can be met
// again, or a statement in the place of ours, which may fail in any way. What fails after a DISCARD
// ALL, too, is the task's own.
type tries struct {
	last    bool
	limited int
}

// doubt takes down a failure, and tells whether it may be no limit: SQL can make anything look like
// one.
func (t *tries) doubt(failure *pgproto3.ErrorResponse) bool {
	t.last = t.last || !limit(failure)
	return t.last || t.limited > 1
}

func (t *tries) over(failure *pgproto3.ErrorResponse) bool {
	if limit(failure) {
		t.limited++
		return t.limited == mostLimited
	}
	return t.last
}

// sent is how many statements of ours Begin has sent for what.
type sent struct {
	tail, prepared int
	chained, reset bool
}

// sendTask sends what Begin does.
func (s *Session) sendTask(tail *Tail, t *Task, then []*Task) (q sent, err error) {
	s.written, s.renewed = false, false
	s.hard = s.hard || t.Traits.Prepared || s.aged(t)
	wary := t.Wary || t.Traits.Prepared || s.hard && t.Keep || !t.Atomic // which nothing can take back
	s.wary = wary || s.hard                                              // until DISCARD ALL
	q.chained = s.chains(tail, t)
	s.sendTail(tail, q.chained, t.Keep)
	q.tail = s.queued()
	if tail != nil && len(tail.Calls) > 0 { // its COMMIT has no limit; what a trigger has left there for us has one
		s.front.Send(&pgproto3.Flush{})
	}
	s.wary = wary
	q.reset = s.sendPrepare(t, q.chained, time.Time{})
	q.prepared = s.queued()
	return q, s.sendInput(t, then)
}

// sends bounds the time until the answers to what precedes the task's SQL have come.
func (s *Session) sends(tail *Tail, t *Task) {
	s.reader.greeted = true
	switch {
	case s.defers(tail):
		s.limited(true)
	case t.Sending > 0:
		s.within(t.Sending)
	default:
		s.within(s.brief)
	}
}

// defers tells whether to finish the task before may take as long as triggers of the user's do.
func (s *Session) defers(tail *Tail) bool {
	return tail != nil && (len(tail.Calls) > 0 || !s.local)
}

// unclean tells the failures of a preparation that say that the session is not clean: a statement
// of ours is gone, or there is one of other people's.
func unclean(failure *pgproto3.ErrorResponse) bool {
	return failure.Code == "26000" || failure.Code == "22012" || failure.Code == "42P05"
}

// sendInput sends what is queued with the task's SQL and what asks what has become of the
// transaction. Behind SQL that may read from us nothing may wait: that is sent alone.
func (s *Session) sendInput(t *Task, then []*Task) error {
	s.underWay, s.open = underWay{}, false // what asks of a task whose preparation has failed was passed over
	if t.Traits.Stdin {
		s.before = ""
		s.sync()
		return s.flush()
	}
	s.front.Send(&pgproto3.Flush{})
	if len(then) > 0 && s.pipelined(t) {
		s.planned, s.before = "", ""
		s.bound = s.sendPipelined(t, then)
		s.sendEvidenceAhead(t)
		s.sendProbeAhead(t)
		s.probing = s.queued()
		s.sendBehind(then)
		return s.flush()
	}
	s.bound = s.sendSingle(t)
	if t.Atomic {
		s.sendProbe(t)
		s.probing = s.queued()
	}
	s.sync()
	return s.flush()
}

func (s *Session) sendAlone(t *Task) error {
	if !t.Traits.Stdin {
		return nil
	}
	if err := s.synced(); err != nil {
		return err
	}
	s.query(t.Input)
	return s.flush()
}

// readPrepared reads the answers to n statements that make the session ready.
func (s *Session) readPrepared(n int) (start time.Time, failure *pgproto3.ErrorResponse, err error) {
	var bad error
	_, failure, err = s.answers(n, func(values [][]byte) {
		if len(values) > 0 && len(values[0]) > 0 { // not of unprepared
			start, bad = moment(values[0])
		}
	}, nil)
	switch {
	case err != nil:
		return start, failure, err
	case failure != nil:
		return start, failure, s.rollback()
	case bad != nil:
		return start, nil, &Lost{Cause: bad, Broken: true}
	case start.IsZero():
		return start, nil, &Lost{Cause: errMoment, Broken: true}
	}
	return start, nil, nil
}
