package exec

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
)

// The question comes after a task's SQL: which transaction is this, and what time is it? A
// transaction without an id has written nothing. The question uses function calls and no operators,
// because the SQL may have changed the search path. CLOSE ALL comes first: a cursor WITH HOLD would
// run its query at COMMIT, and could write after the question.
//
// The COMMIT of a run that is exactly once on a remote must wait for the disk there. So deferred
// triggers, which could lower synchronous_commit, run before the question raises it.
//
// The transaction then waits for us. No time limit of the SQL or the role may end it meanwhile, so
// the question switches these limits off.
const (
	ownQuestion      = `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`
	forcedQuestion   = `SELECT pg_catalog.txid_current(), pg_catalog.clock_timestamp(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`
	withoutEnd       = `, pg_catalog.set_config('transaction_timeout', '0', true)`
	questionOfOthers = `SELECT pg_catalog.txid_current_if_assigned(), pg_catalog.clock_timestamp()`
)

// If other tasks were sent after the task, the server already has the COMMIT. So this question
// turns an effect into an error: it casts a text that is no number, and the text shows why.
const (
	wroteText     = "pgtaskd: this query has written"
	questionAhead = `SELECT NULL::pg_catalog.int8, pg_catalog.clock_timestamp(), ` +
		`(CASE WHEN pg_catalog.txid_current_if_assigned() IS NULL THEN '0' ELSE '` + wroteText + `' END)::pg_catalog.int4`
)

// silenceMost limits how long a transaction on a remote, with its locks, outlives us (the network
// is gone, or we are frozen). It applies to this transaction only, and only if the session has no
// limit of its own.
const silenceMost = "1min"

// question asks what became of a task's transaction.
type question struct {
	wire  *wire
	setup *setup // queues the statements

	local   bool   // the session is in the target's database
	silence string // idle_in_transaction_session_timeout while the transaction waits
	timed   bool   // the server knows transaction_timeout
}

// ask queues the question for the last task that is sent. It returns the number of statements.
func (q *question) ask(t *Task) int {
	if t.Exact && !t.Traits.Inert {
		q.setup.call("SET CONSTRAINTS ALL IMMEDIATE")
	}
	if !t.Traits.Inert && !t.Save {
		q.setup.call("CLOSE ALL")
	}
	switch {
	case t.Query:
		q.setup.call(questionAhead+`, pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`, []byte(q.silence))
	case t.Traits.Inert:
		q.setup.call(questionOfOthers)
	default:
		sql := ownQuestion
		if t.GetsID() {
			sql = forcedQuestion
		}
		if q.timed {
			sql += withoutEnd
		}
		if t.Exact {
			sql += ", " + raised
		}
		q.setup.call(sql, []byte(q.rest()))
	}
	return q.wire.queued()
}

// rest is the limit of the transaction while it waits for us.
func (q *question) rest() string {
	if q.local {
		return "0"
	}
	return q.silence
}

// askAhead does the same if other tasks are sent after this one.
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

// claiming gives the transaction an id, and switches off the role's limit while Claim runs.
const claiming = `SELECT pg_catalog.txid_current(), pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true)`

// claims gives the transaction an id and calls Claim. unclaimed: the SQL must not be sent.
func (q *question) claims(t *Task) (unclaimed bool, err error) {
	q.setup.call(claiming, []byte(q.rest()))
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

// ErrUnclaimed means that the task's Claim returned false. Begin did not send the SQL, and has
// rolled back.
var ErrUnclaimed = errors.New("the task was not to begin")

// answer reads until the server is ready for the next query. take gets each message of the answer,
// and may use it only until the next one is read; take may be nil. failure is the first error, or a
// FATAL one; err means that the session is lost.
func (w *wire) answer(take func(pgproto3.BackendMessage)) (failure *pgproto3.ErrorResponse, err error) {
	for {
		message, err := w.front.Receive()
		if err != nil {
			return failure, cut(failure, err)
		}
		switch m := message.(type) {
		case *pgproto3.RowDescription, *pgproto3.DataRow, *pgproto3.CommandComplete,
			*pgproto3.CopyOutResponse, *pgproto3.CopyData, *pgproto3.NoticeResponse:
			if take != nil {
				take(m)
			}
		case *pgproto3.CopyInResponse:
			w.front.Send(&pgproto3.CopyFail{Message: "COPY FROM STDIN is not supported"})
			if err := w.flush(); err != nil {
				return failure, err
			}
		case *pgproto3.ParameterStatus:
			w.note(m)
		case *pgproto3.ErrorResponse:
			if failure == nil || fatal(m) {
				failure = copyError(m)
			}
		case *pgproto3.ReadyForQuery:
			return failure, w.became(m)
		case *pgproto3.EmptyQueryResponse, *pgproto3.CopyDone, *pgproto3.NotificationResponse:
		default:
			return failure, unexpected(m)
		}
	}
}

// ask sends a simple query, and reads until the server is ready.
func (w *wire) ask(sql string) (failure *pgproto3.ErrorResponse, err error) {
	w.query(sql)
	if err := w.flush(); err != nil {
		return nil, err
	}
	return w.answer(nil)
}

// exchange sends our queued statements with a Sync, and reads the answers. After a failure the
// server has skipped the rest and is ready.
func (w *wire) exchange(row func([][]byte)) (failure *pgproto3.ErrorResponse, err error) {
	w.sync()
	n := w.queued()
	if err := w.flush(); err != nil {
		return nil, err
	}
	if failure, err = w.answers(n, row, nil); err == nil && failure == nil {
		err = w.synced()
	}
	return failure, err
}

// answers reads the answers to n statements of ours. After a failure the server has skipped
// everything else that was sent, and is ready. err means that the session is lost.
func (w *wire) answers(n int, row func([][]byte), complete func([]byte)) (failure *pgproto3.ErrorResponse, err error) {
	failed := false // a statement has failed since the last Sync
	for n > 0 || failure != nil {
		message, err := w.front.Receive()
		if err != nil {
			return failure, cut(failure, err)
		}
		switch m := message.(type) {
		case *pgproto3.DataRow:
			if row != nil && failure == nil {
				row(m.Values)
			}
		case *pgproto3.CommandComplete:
			if failure != nil {
				continue
			}
			if complete != nil {
				complete(m.CommandTag)
			}
			n--
		case *pgproto3.ParameterStatus:
			w.note(m)
		case *pgproto3.ErrorResponse:
			if failed = true; failure == nil || fatal(m) {
				failure = copyError(m)
			}
		case *pgproto3.ReadyForQuery:
			if err := w.became(m); err != nil {
				return failure, err
			}
			w.syncs--
			switch {
			case failure == nil && w.syncs <= 0:
				return nil, &Lost{Cause: errors.New("the server left a statement unanswered"), Broken: true}
			case failure != nil && !failed:
				return failure, &Lost{Cause: errors.New("the server went on after a failure"), Broken: true}
			case failure != nil && w.syncs <= 0:
				return failure, nil
			}
			failed = false
		case *pgproto3.NoticeResponse:
			w.unreplicated = w.unreplicated || m.Routine == syncRepWait
		case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.NotificationResponse:
		default:
			return failure, unexpected(m)
		}
	}
	return nil, nil
}

// synced reads the answer to Sync.
func (w *wire) synced() error {
	failure, err := w.answer(nil)
	if err == nil && failure != nil {
		err = &Lost{Cause: errors.New(failure.Message)}
	}
	w.syncs--
	return err
}

// tags watches the command tags of a run. The server itself sends one tag for each statement of the
// input; SQL can't forge them. Inside a function or DO block no statement can end a transaction
// that we have begun.
type tags struct {
	finished  bool // COMMIT or PREPARE TRANSACTION has ended the transaction
	rollbacks int  // ROLLBACK tags beyond those of statements that return to a savepoint
}

func (t *tags) see(tag []byte) {
	switch string(tag) {
	case "COMMIT", "PREPARE TRANSACTION":
		t.finished = true
	case "ROLLBACK":
		t.rollbacks++
	}
}

// ended tells whether the transaction in which the input began has ended.
func (t *tags) ended() bool { return t.finished || t.rollbacks > 0 }
