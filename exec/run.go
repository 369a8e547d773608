package exec

import (
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Task is what a session has to know of a task in order to run it.
type Task struct {
	Input    string
	Traits   Traits
	Atomic   bool        // in a transaction of ours, in which its end can be written
	Keep     bool        // the state that the task before has left in the session
	Save     bool        // the state that it leaves, for the next
	Settings [][2]string // names and values, set for each task; the names are the same for all tasks of a session
	Usual    Usual       // likewise, set only where the session does not have them from its start
	Wary     bool        // no statement of ours is to be taken for prepared
	Timeout  time.Duration
	Format   Format
	Limit    int64         // of the output, in bytes
	Strict   bool          // output beyond the limit is an error
	Until    time.Time     // behind another, where it must be set: the latest moment at which it may begin, by the server's clock
	Query    bool          // on a remote, where it must not write: it is rolled back if it has, and to be run once more, otherwise
	Watched  bool          // on a remote, where it is to show whether it writes
	Ours     bool          // its transaction is made ours right behind its SQL, which is no query alone, as its end is likely to be written there
	Sending  time.Duration // how long the server may take to take it; 0: as long as for anything else
	Guarded  bool          // it must not run twice: nothing is sent to a session that has gone
	Settled  time.Time     // by our clock, a moment at which whatever it is to find was there; zero: not known, or it must not be run again
}

// Usual are settings that a session may share with its tasks: those of a lane, and those that most tasks have alike.
type Usual [2][][2]string

// Result is what came of a run.
type Result struct {
	Output  *string
	Notice  *string
	Failure *Failure                // nil: the SQL ran well
	Raw     *pgproto3.ErrorResponse // the server's error behind Failure, if it is the server's
	Reason  Reason                  // why it was cancelled, if it was
	Stop    time.Time               // when it ended, by the server's clock; zero: when this is read
	Open    bool                    // our transaction is open, its end can be written in it
	Forgot  bool                    // what we asked behind the SQL failed by its doing, and the run with it: once more, a wary one will do
	Alone   bool                    // it is rolled back, as it may have had an effect where it must not: once more, with none behind it, and not as a Query
	Wrote   bool                    // the transaction may have an effect
	Barred  bool                    // it failed because writes are switched off, and not by the SQL itself

	untouched bool // the session has never had temporary objects
}

// Retry tells whether the SQL failed only because it ran inside a transaction. The routine tells the server's own error from one
// that was raised by SQL with the same code.
func (r *Result) Retry() bool {
	if r.Raw == nil {
		return false
	}
	switch r.Raw.Code {
	case "25001":
		return r.Raw.Routine == "PreventInTransactionBlock"
	case "2D000":
		return strings.HasPrefix(r.Raw.Routine, "_SPI_commit") || strings.HasPrefix(r.Raw.Routine, "_SPI_rollback") ||
			r.Raw.Routine == "SPI_commit" || r.Raw.Routine == "SPI_rollback"
	}
	return false
}

// Tail is what is left to do for a task whose SQL has run in our transaction: the calls that write its end, of which one fails when the
// task is no longer ours, or none; and COMMIT.
type Tail struct {
	Calls []Call
	Input string // of that task, for its errors

	partly bool // what made the transaction ours has left out what the SQL has hardly changed
}

// Verdict is what the server said to a tail.
type Verdict struct {
	Committed bool
	Refused   *Failure // the statement that writes the end failed
	Deferred  *Failure // COMMIT failed: a deferred constraint or trigger
	Forgot    bool     // refused by what the SQL has left in the session: once more, a wary one will do
}

// own makes the transaction of a task's SQL ours, whatever that has set: our role, and the limits under which we write its end. It answers like a probe, and
// tells whether the session has had temporary objects. $1: search_path, the session's own: triggers of the table find by it what they find when somebody else changes a row.
// Our statements name all they use with its schema, and find nothing by it. Without enable_seqscan they find a row by an index: a plan is kept for as long as the session, and one that was made when the
// table was empty would read all of it. The one that writes the end gives that back.
//
// partly does so behind what is planned, which has no string to name a setting by: all but the limit for locks and the path is nearly always as it was. Should a function have
// changed it all the same, the end is refused, and the task is run once more, by a simple query and with own behind it.
var (
	own = &Statement{"pgtaskd_own", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.num_nulls(` +
		`pg_catalog.set_config('session_authorization', NULL, false), pg_catalog.set_config('role', 'none', true), ` +
		`pg_catalog.set_config('statement_timeout', '30s', true), pg_catalog.set_config('lock_timeout', '5s', true), ` +
		`pg_catalog.set_config('row_security', 'on', true), pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('search_path', $1, true)) OPERATOR(pg_catalog.>=) 0, pg_catalog.pg_my_temp_schema()`}
	partly = &Statement{"pgtaskd_partly", `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.num_nulls(` +
		`pg_catalog.set_config('lock_timeout', '5s', true), pg_catalog.set_config('enable_seqscan', 'off', true), pg_catalog.set_config('search_path', $1, true)) OPERATOR(pg_catalog.>=) 0, pg_catalog.pg_my_temp_schema()`}
)

func (s *Session) sendOwn(st *Statement) {
	s.call(st, s.path)
	s.ours, s.partly = true, st == partly
}

// Begin sends, in one flush, what finishes the task before (tail may be nil), what makes the session new unless the task wants it as it is,
// and the task's SQL, and reads the answers to all but the last: its SQL is under way then, since start by the server's clock. If anything
// before it fails, the server passes over it. The error is a *Lost, or a *Failure of the preparation (the task has not started). A verdict
// that is not nil counts in any case. As many of then follow behind it as Behind tells.
func (s *Session) Begin(tail *Tail, t *Task, then ...*Task) (verdict *Verdict, start time.Time, err error) {
	if t.Guarded {
		err = s.Present()
	}
	if err != nil {
		return nil, start, err
	}
	s.sends(t)
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
			if tail = nil; passed {
				s.behind = nil
				continue
			}
		}
		start, failure, err := s.readPrepared(sent.prepared)
		if failure != nil {
			s.behind = nil
		}
		switch {
		case err != nil:
			return verdict, start, s.unbegun(err)
		case failure == nil:
			s.prepared(t, sent.chained, sent.reset)
			if err = s.sendAlone(t); err == nil {
				s.enter(t.Timeout)
			}
			return verdict, start, err
		case tries.over(failure):
			return verdict, start, serverFailure(failure, t.Input)
		case sent.chained && t.Keep: // what it keeps must stay
			s.usualModes = false
		case !limit(failure):
			s.hard, tries.last = true, true
			if unclean(failure) {
				s.distrust()
			}
		}
	}
}

// tries of a task's preparation may fail by what the one before has left: a limit, which can be met again, or a statement in the place of ours, which may fail in any way. What fails
// after a DISCARD ALL, too, is the task's own.
type tries struct {
	last    bool
	limited int
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
	s.wary = wary
	q.reset = s.sendPrepare(t, q.chained, time.Time{})
	q.prepared = s.queued()
	return q, s.sendInput(t, then)
}

// sends bounds the time until the answers to what precedes the task's SQL have come.
func (s *Session) sends(t *Task) {
	s.reader.greeted = true
	s.limited(true)
	if t.Sending > 0 {
		_ = s.conn.Conn().SetDeadline(time.Now().Add(t.Sending))
	}
}

// unclean tells the failures of a preparation that say that the session is not clean: a statement of ours is gone, or there is one of other people's.
func unclean(failure *pgproto3.ErrorResponse) bool {
	return failure.Code == "26000" || failure.Code == "22012" || failure.Code == "42P05"
}

// sendInput sends what is queued with the task's SQL and what asks what has become of the transaction. Behind SQL that may read from us
// nothing may wait: that is sent alone.
func (s *Session) sendInput(t *Task, then []*Task) error {
	s.probing, s.open, s.ours, s.partly, s.bound, s.judged = 0, false, false, false, false, false // what asks of a task whose preparation has failed was passed over
	s.asks = noEvidence
	if t.Traits.Stdin {
		s.before = ""
		s.sync()
		return s.flush()
	}
	s.front.Send(&pgproto3.Flush{})
	if len(then) > 0 && s.flies(t) {
		s.planned, s.before = "", ""
		s.bound = s.sendFlown(t, then)
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

// sendTail queues what is left to do for the task before; readTail reads what the server said to it. What was listened to must be given up before the next
// task's transaction, if that is chained.
func (s *Session) sendTail(tail *Tail, chained, keep bool) {
	if tail == nil {
		return
	}
	if len(tail.Calls) > 0 {
		if s.encoding != "UTF8" {
			s.plain("SET client_encoding TO 'UTF8'")
		}
		if !s.ours {
			s.sendOwn(own)
		}
		tail.partly = s.partly
		for _, call := range tail.Calls {
			s.bind(s.parse(call.Statement), call.formats, call.args)
		}
	}
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

// readTail reads the answers to the n statements of a tail. When the server has passed over what was sent behind it, it is ready.
func (s *Session) readTail(tail *Tail, n int) (verdict *Verdict, passed bool, err error) {
	committed, ended := false, false
	well, failure, err := s.answers(n, nil, func(tag []byte) {
		committed = string(tag) == "COMMIT"
		ended = committed || string(tag) == "ROLLBACK"
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
	switch answer := endFailure(failure); {
	case s.forgotten(failure), limit(failure) && (len(tail.Calls) == 0 || tail.partly): // own sets it aside
		verdict.Refused, verdict.Forgot = answer, true
	case well == n-1:
		verdict.Deferred = serverFailure(failure, tail.Input)
	default:
		verdict.Refused = answer
		verdict.Forgot = tail.partly && !answer.Missed()
		s.apart = s.apart || verdict.Forgot
	}
	return verdict, true, s.rollback()
}

// forgotten tells the error of a statement of ours that was prepared and is not any more; then nothing is taken for prepared.
func (s *Session) forgotten(failure *pgproto3.ErrorResponse) bool {
	gone := failure.Code == "26000" && failure.Routine == "FetchPreparedStatement" || failure.Code == "42P05" && failure.Routine == "StorePreparedStatement"
	s.hard = s.hard || gone
	return gone
}

// rollback ends a transaction in which something has failed, if that has not ended it. Even that can be cancelled by others.
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
