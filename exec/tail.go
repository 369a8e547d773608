package exec

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// own makes the transaction of a task's SQL ours, whatever that has set: our role, and the limits
// under which we write its end. It answers like a probe, and tells whether the session has had
// temporary objects. $1: search_path, the session's own: triggers of the table find by it what they
// find when somebody else changes a row. Our statements name all they use with its schema, and find
// nothing by it. Without enable_seqscan they find a row by an index: a plan is kept for as long as
// the session, and one that was made when the table was empty would read all of it. The one that
// writes the end gives that back.
//
// partly does so behind what is planned, which has no string to name a setting by: all but the
// limit for locks and the path is nearly always as it was. Should a function have changed it all
// the same, the end is refused, and the task is run once more, by a simple query and with own
// behind it.
var (
	own = &Statement{"pgtaskd_own", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.num_nulls(` +
		`pg_catalog.set_config('session_authorization', NULL, false), pg_catalog.set_config('role', 'none', true), ` +
		`pg_catalog.set_config('statement_timeout', '30s', true), pg_catalog.set_config('lock_timeout', '5s', true), ` +
		`pg_catalog.set_config('row_security', 'on', true), pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('search_path', $1, true)) OPERATOR(pg_catalog.>=) 0, pg_catalog.pg_my_temp_schema()`}
	partly = &Statement{"pgtaskd_partly", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.num_nulls(` +
		`pg_catalog.set_config('lock_timeout', '5s', true), pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('search_path', $1, true)) OPERATOR(pg_catalog.>=) 0, pg_catalog.pg_my_temp_schema()`}
)

// secretive keeps the parameters of what follows in the transaction out of errors, whatever the
// session's user has set: they hold the token by which a function writes the end. Servers before 13
// never show them. Those that are an array may have NULLs.
var secretive = &Statement{SQL: `SELECT pg_catalog.set_config('array_nulls', 'on', true), CASE WHEN pg_catalog.current_setting('log_parameter_max_length_on_error', true) IS NOT NULL ` +
	`THEN pg_catalog.set_config('log_parameter_max_length_on_error', '0', true) END`}

func (s *Session) sendOwn(st *Statement) {
	s.call(st, s.path)
	s.ours, s.partly = true, st == partly
}

// sendTail queues what is left to do for the task before; readTail reads what the server said to
// it. What was listened to must be given up before the next task's transaction, if that is chained.
func (s *Session) sendTail(tail *Tail, chained, keep bool) {
	if tail == nil {
		return
	}
	s.sendCalls(tail)
	ends := commit
	if chained {
		ends = chain
		if !keep {
			s.call(unlisten)
		}
	}
	if len(tail.Calls) > 0 { // triggers have run
		s.unseen = true
		s.plain(ends.SQL)
		return
	}
	s.call(ends)
}

// sendCalls queues what a tail does before it ends the transaction.
func (s *Session) sendCalls(tail *Tail) {
	if len(tail.Calls) == 0 {
		return
	}
	if s.encoding != "UTF8" {
		s.plain("SET client_encoding TO 'UTF8'")
	}
	if !s.ours {
		s.sendOwn(own)
	}
	tail.partly = s.partly
	if len(tail.Within) > 0 {
		s.call(secretive)
	}
	tail.before = s.asked
	for _, call := range tail.Calls {
		s.bind(s.parse(call.Statement), call.formats, call.args)
	}
}

// Hold does what a tail does before it ends the transaction, which goes on, unless there is a
// verdict: then it has been rolled back.
func (s *Session) Hold(tail *Tail) (*Verdict, error) {
	s.limited(true)
	defer s.limited(false)
	s.wary = s.wary || s.hard
	s.sendCalls(tail)
	s.sync()
	n := s.queued()
	if err := s.flush(); err != nil {
		return nil, err
	}
	well, failure, err := s.answers(n, nil, nil)
	switch {
	case err != nil:
		return nil, err
	case failure == nil:
		return nil, s.synced()
	}
	return s.refusal(tail, failure, well), s.rollback()
}

// readTail reads the answers to the n statements of a tail. When the server has passed over what
// was sent behind it, it is ready.
func (s *Session) readTail(tail *Tail, n int) (verdict *Verdict, passed bool, err error) {
	committed, ended := false, false
	well, failure, err := s.answers(n, nil, func(tag []byte) {
		committed = string(tag) == "COMMIT"
		ended = committed || string(tag) == "ROLLBACK"
		s.reader.settled = s.reader.settled || ended // nothing that comes behind it is of use
	})
	if err != nil {
		return nil, false, err
	}
	if failure == nil && !ended {
		return nil, false, &Lost{Cause: errors.New("the statement that commits is another's")}
	}
	verdict = &Verdict{Committed: failure == nil && committed}
	if failure == nil {
		if !verdict.Committed {
			verdict.Refused = NewFailure("the transaction could not be committed", "40000")
			s.fell()
		}
		s.stood()
		return verdict, false, nil
	}
	if well == n-1 && !s.setAside(tail, failure) {
		verdict.Deferred = commitFailure(failure, tail)
	} else {
		verdict = s.refusal(tail, failure, well)
	}
	return verdict, true, s.rollback()
}

// refusal is the verdict where the server has refused the tail after so many statements.
func (s *Session) refusal(tail *Tail, failure *pgproto3.ErrorResponse, well int) *Verdict {
	answer := tail.failure(failure, well)
	if s.setAside(tail, failure) {
		return &Verdict{Refused: answer, Forgot: true}
	}
	forgot := tail.partly && !answer.Missed()
	s.apart = s.apart || forgot
	return &Verdict{Refused: answer, Forgot: forgot}
}

// setAside tells an error that has to do with what the task's SQL has left in its session: own, or a
// session that has forgotten nothing, does not meet it.
func (s *Session) setAside(tail *Tail, failure *pgproto3.ErrorResponse) bool {
	return s.forgotten(failure) || limit(failure) && (len(tail.Calls) == 0 || tail.partly)
}

// failure is the error by which the server has refused the tail, after so many statements. Where a
// function has run our statement, that is no context of it.
func (t *Tail) failure(e *pgproto3.ErrorResponse, well int) *Failure {
	for i, statement := range t.Within {
		if isOf(e, statement) {
			direct := *e
			direct.Where, direct.InternalQuery = "", ""
			return endFailure(&direct, t.Follows > 0 && i == t.Follows)
		}
	}
	return endFailure(e, t.Follows > 0 && len(t.Within) == 0 && well == t.before+t.Follows)
}

// isOf tells the error of a statement itself that a function has run from one of what the statement
// sets off. The server repeats it in the first line of the context, or, if it knows the position in
// it, as it has looked up its names in vain, apart from that.
func isOf(e *pgproto3.ErrorResponse, statement string) bool {
	const most = 40 // bytes before the statement, in any language
	if e.InternalQuery != "" {
		return e.InternalQuery == statement && !strings.Contains(e.Where, "\n")
	}
	at := strings.Index(e.Where, statement)
	return at >= 0 && at <= most && !strings.Contains(e.Where[:at], "\n")
}

// forgotten tells the error of a statement of ours that was prepared and is not any more; then
// nothing is taken for prepared.
func (s *Session) forgotten(failure *pgproto3.ErrorResponse) bool {
	gone := failure.Code == "26000" && failure.Routine == "FetchPreparedStatement" || failure.Code == "42P05" && failure.Routine == "StorePreparedStatement"
	s.hard = s.hard || gone
	return gone
}

// rollback ends a transaction in which something has failed, if that has not ended it. Even that
// can be cancelled by others.
func (s *Session) rollback() error {
	s.fell()
	for tries := 0; s.status != 'I'; tries++ {
		if tries == 100 {
			return &Lost{Cause: errors.New("the transaction could not be rolled back")}
		}
		s.query("ROLLBACK")
		if err := s.flush(); err != nil {
			return s.ended(err)
		}
		if _, err := s.answer(sink{}); err != nil {
			return s.ended(err)
		}
	}
	return nil
}

// End does what Begin does for the task before, when none comes after it.
func (s *Session) End(tail *Tail) (*Verdict, error) {
	s.limited(true)
	defer s.limited(false)
	s.wary = s.wary || s.hard
	s.sendTail(tail, false, false)
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
