package exec

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
)

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

// answer reads until the server is ready for the next query. take gets the messages of its answer,
// which live until the next is read; nil: nobody wants them. The first error is returned as failure;
// err means that the session is lost.
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

// exchange sends our statements that are queued, and reads the answers. After a failure the server
// has skipped the rest, and is ready.
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

// answers reads the answers to n statements of ours. A failure is the last: the server has skipped
// all that was sent after it, and is ready. err means that the session is lost.
func (w *wire) answers(n int, row func([][]byte), complete func([]byte)) (failure *pgproto3.ErrorResponse, err error) {
	failed := false // something has since the last Sync
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
		case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.NoticeResponse, *pgproto3.NotificationResponse:
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

// tags watches the command tags of a run: they are the server's own word for what was done, one for
// each statement of the input, and SQL can't make them up. Inside a function or DO block no
// statement can end a transaction that we have begun.
type tags struct {
	finished  bool // the transaction was ended
	rollbacks int  // more than statements that return to a savepoint, which have the same tag
}

func (t *tags) see(tag []byte) {
	switch string(tag) {
	case "COMMIT", "PREPARE TRANSACTION":
		t.finished = true
	case "ROLLBACK":
		t.rollbacks++
	}
}

// ended tells whether the transaction in which the input began is over.
func (t *tags) ended() bool { return t.finished || t.rollbacks > 0 }
