package exec

import "errors"

// The question that follows a task's SQL: which transaction is this, and what time is it? A
// transaction without an id has written nothing. The path may be anybody's by now: it is function
// calls, and no operator. Cursors are closed before it: one WITH HOLD would run its query at COMMIT,
// and what that writes would come after the question.
//
// Until it is answered, and its answer is acted on, the transaction rests: neither a limit of the
// SQL's nor one of the role's is to end it meanwhile.
const (
	question         = `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`
	forcedQuestion   = `SELECT pg_catalog.txid_current(), pg_catalog.clock_timestamp(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`
	withoutEnd       = `, pg_catalog.set_config('transaction_timeout', '0', true)`
	questionOfOthers = `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp()`
)

// Where other tasks are with the server after it, an effect is an error, since what commits it is
// there already: a text that is no number shows which.
const (
	wroteText     = "pgtaskd: this query has written"
	questionAhead = `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` +
		`(CASE WHEN pg_catalog.txid_current_if_assigned() IS NULL THEN '0' ELSE '` + wroteText + `' END)::pg_catalog.int4`
)

// silenceMost bounds the time for which a remote's transaction, and the locks in it, stay if we are
// never heard of again, as when the network is gone or we are frozen: for that transaction alone,
// and where the session has no limit of its own.
const silenceMost = "1min"

// sendQuestion queues what asks what has become of a task's transaction, for one that nothing is sent
// after.
func (s *Session) sendQuestion(t *Task) {
	if !t.Traits.Inert && !t.Save {
		s.call("CLOSE ALL")
	}
	switch {
	case t.Query:
		s.call(questionAhead+`, pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`, []byte(s.silence))
	case t.Traits.Inert:
		s.call(questionOfOthers)
	default:
		sql, rest := question, "0"
		if t.Forced || t.Save {
			sql = forcedQuestion
		}
		if s.timed {
			sql += withoutEnd
		}
		if !s.local {
			rest = s.silence
		}
		s.call(sql, []byte(rest))
	}
}

// sendQuestionAhead queues the same of a task that others are sent after.
func (s *Session) sendQuestionAhead(t *Task) {
	if !t.Traits.Inert {
		s.call("CLOSE ALL")
	}
	s.call(questionAhead)
}

// readQuestion reads what the server says to it, and to the Sync after it. It tells whether it was
// answered.
func (s *Session) readQuestion(t *Task, result *Result) (answered bool, err error) {
	if t.Atomic && t.Traits.Stdin {
		s.sendQuestion(t)
		s.probing = s.queued()
		s.sync()
		if err := s.flush(); err != nil {
			return false, err
		}
	}
	if !s.local { // what is ours to wait for has a limit, though SQL may have none
		s.limited(true)
		defer s.limited(false)
	}
	n := s.probing
	s.probing = 0
	if n == 0 && t.Traits.Stdin {
		return false, nil
	}
	rows := 0
	var bad error
	_, failure, err := s.answers(n, func(values [][]byte) {
		rows++
		bad = errors.Join(bad, result.hear(values))
	}, nil)
	switch {
	case err != nil:
		return false, err
	case failure != nil && result.Raw == nil:
		result.Raw = failure
		result.Alone = failure.Code == "22P02" && (t.Query || s.open)
		return false, nil
	case failure != nil:
		return false, nil
	case bad != nil || n > 0 && rows != 1:
		return false, &Lost{Cause: errors.Join(errAnswer, bad), Broken: true}
	case len(s.behind) == 0:
		err = s.synced()
	}
	return n > 0 && err == nil, err
}

// hear reads the row of an answer.
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

// claiming asks for an id. The transaction rests while the task is asked: no limit of the role's is
// to end it meanwhile.
const claiming = `SELECT pg_catalog.txid_current(), pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true)`

// claim asks the task whether its SQL may be sent, once its transaction has an id.
func (s *Session) claim(t *Task) (unclaimed bool, err error) {
	s.call(claiming)
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return false, err
	}
	var xact int64
	bad := errAnswer
	_, failure, err := s.answers(n, func(values [][]byte) {
		if len(values) == 2 && values[0] != nil {
			xact, bad = int8Of(values[0])
		}
	}, nil)
	switch {
	case err != nil:
		return false, err
	case failure != nil:
		return false, serverFailure(failure, t.Input)
	case bad != nil:
		return false, &Lost{Cause: bad, Broken: true}
	}
	if err := s.synced(); err != nil {
		return false, err
	}
	return !t.Claim(xact), nil
}

// ErrUnclaimed is the error of a Begin whose task has said no: its SQL was not sent, and nothing of it
// is left.
var ErrUnclaimed = errors.New("the task was not to begin")
