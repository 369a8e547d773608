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

// The question that follows a task's SQL: which transaction is this, and what time is it? A
// transaction without an id has written nothing. The question is function calls and no operator,
// since the search path may be anybody's by now. Cursors are closed first: a cursor WITH HOLD would
// run its query at COMMIT, and write after the question.
//
// The transaction then waits for what follows. No limit of the SQL's or of the role's may end it
// meanwhile, so the question switches them off.
const (
	ownQuestion      = `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`
	forcedQuestion   = `SELECT pg_catalog.txid_current(), pg_catalog.clock_timestamp(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`
	withoutEnd       = `, pg_catalog.set_config('transaction_timeout', '0', true)`
	questionOfOthers = `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp()`
)

// If other tasks are with the server after it, an effect is an error, since its COMMIT is already
// there: the cast of a text that is no number fails, and the text shows why.
const (
	wroteText     = "pgtaskd: this query has written"
	questionAhead = `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` +
		`(CASE WHEN pg_catalog.txid_current_if_assigned() IS NULL THEN '0' ELSE '` + wroteText + `' END)::pg_catalog.int4`
)

// silenceMost limits how long a remote's transaction, and its locks, stay if we are never heard of
// again (the network is gone, or we are frozen). It applies to that transaction alone, if the
// session has no limit of its own.
const silenceMost = "1min"

// question asks what has become of a task's transaction.
type question struct {
	wire  *wire
	setup *setup // which queues it

	local   bool   // the session is in the database of the target
	silence string // how long it may rest in a transaction, as idle_in_transaction_session_timeout
	timed   bool   // the server knows transaction_timeout
}

// ask queues the question for a task after which nothing is sent. It returns the number of
// statements.
func (q *question) ask(t *Task) int {
	if !t.Traits.Inert && !t.Save {
		q.setup.call("CLOSE ALL")
	}
	switch {
	case t.Query:
		q.setup.call(questionAhead+`, pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`, []byte(q.silence))
	case t.Traits.Inert:
		q.setup.call(questionOfOthers)
	default:
		sql, rest := ownQuestion, "0"
		if t.Forced || t.Save {
			sql = forcedQuestion
		}
		if q.timed {
			sql += withoutEnd
		}
		if !q.local {
			rest = q.silence
		}
		q.setup.call(sql, []byte(rest))
	}
	return q.wire.queued()
}

// askAhead does the same for a task after which others are sent.
func (q *question) askAhead(t *Task) int {
	if !t.Traits.Inert {
		q.setup.call("CLOSE ALL")
	}
	q.setup.call(questionAhead)
	return q.wire.queued()
}

// hear reads the row that answers the question.
func (r *Result) hear(values [][]byte) (err error) {
	if len(values) < 2 {
		return errAnswer
	}
	if r.Stop, err = moment(values[1]); err != nil || values[0] == nil {
		return err
	}
	r.Xact, err = int8Of(values[0])
	return err
}

// claiming gives the transaction an id. No limit of the role's ends it while the task is asked.
const claiming = `SELECT pg_catalog.txid_current(), pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true)`

// claims asks the task whether its SQL may be sent, once its transaction has an id.
func (q *question) claims(t *Task) (unclaimed bool, err error) {
	q.setup.call(claiming)
	var xact int64
	bad := errAnswer
	failure, err := q.wire.exchange(func(values [][]byte) {
		if len(values) == 2 && values[0] != nil {
			xact, bad = int8Of(values[0])
		}
	})
	switch {
	case err != nil:
		return false, err
	case failure != nil:
		return false, text.ServerFailure(failure, t.Input)
	case bad != nil:
		return false, &Lost{Cause: bad, Broken: true}
	}
	return !t.Claim(xact), nil
}

// ErrUnclaimed is the error of a Begin whose task said no: its SQL was not sent, and nothing is
// left of it.
var ErrUnclaimed = errors.New("the task was not to begin")
