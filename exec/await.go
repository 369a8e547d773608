package exec

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Await reads what comes of the input that Begin has sent. After it no cancel of ours is on its
// way. The error is a *Lost; the result holds what had come before that.
func (s *Session) Await(t *Task) (*Result, error) {
	output, notices := NewOutput(t.Format, t.Limit), &Notices{}
	output.Encoding(s.encoding)
	tags := tags{traits: t.Traits}
	s.reader.task(output)
	failure, err := s.answer(sink{
		rows: output.Rows, row: output.Row, complete: func(tag []byte) {
			tags.see(tag)
			output.Complete(tag)
		},
		copyOut: output.CopyOut, copied: output.Copy, notice: t.noticed(notices), encoding: output.Encoding, bound: s.bound,
	})
	s.reader.task(nil)
	result := &Result{Raw: failure}
	if s.bound && err == nil { // behind it the server does not tell the status of the transaction
		s.failing, s.status = failure, 'T'
		result.Forgot = failure != nil && s.unplanned(failure)
	}
	answered := false
	if err == nil {
		answered, err = s.readProbe(t, result)
		if err != nil && failure != nil && t.Atomic && s.broken == nil { // its transaction has failed
			err = s.ended(err)
		}
	}
	if !answered {
		s.behind = nil
	}
	result.Reason = s.cancel.exit()
	unseen := s.unseen && !tags.prepared
	s.left(t, result, &tags, answered)
	result.Barred = failure != nil && failure.Code == "25006" && s.readOnly && !t.Save && !t.Traits.Modes
	result.keep(output, notices)
	result.judge(t, output)
	switch {
	case err != nil && s.broken != nil:
		return result, s.broken
	case err != nil:
		return result, err
	case len(s.behind) > 0 && (tags.ended() || s.status != 'T'):
		return result, &Lost{Cause: errors.New("a query has ended its transaction")}
	case result.Failure == nil && answered && !tags.ended() && s.status == 'T':
		result.Open = true
		return result, nil
	}
	err = s.closeTransaction(t, result)
	if err == nil && unseen {
		err = s.review(t, result)
	}
	if err == nil && (result.Forgot || result.Alone || result.Retry()) {
		err = s.gone // it runs again elsewhere
	}
	return result, err
}

// left takes down what the task may have left in the session.
func (s *Session) left(t *Task, result *Result, tags *tags, answered bool) {
	s.hard = s.hard || tags.prepared || t.Wary
	s.unseen = !answered || result.Wrote || !t.Atomic || s.wary
	s.cursors = s.cursors || !answered || tags.declared || t.Save && !s.clean
	result.Wrote = result.Wrote || t.Save && s.cursors && s.clean || t.Traits.Notifies
	s.temporary = s.temporary || !answered || result.Wrote && !(result.untouched && s.clean) // what is deferred to COMMIT makes some only in a procedural language
}

// noticed keeps the notices of a run, without the server's warning that a BEGIN of the input found
// ours.
func (t *Task) noticed(notices *Notices) func(*pgproto3.NoticeResponse) {
	return func(n *pgproto3.NoticeResponse) {
		if !t.Atomic || n.Code != "25001" || n.Routine != "BeginTransactionBlock" {
			notices.Add(n)
		}
	}
}

// closeTransaction ends a transaction that is open and not to be finished by a tail: one that has
// failed, or that the input has left.
func (s *Session) closeTransaction(t *Task, result *Result) error {
	if s.status == 'I' {
		return nil
	}
	s.limited(true)
	defer s.limited(false)
	if s.status == 'T' && result.Failure == nil {
		s.query("COMMIT")
		if err := s.flush(); err != nil {
			return err
		}
		failure, err := s.answer(sink{})
		if err != nil {
			return err
		}
		if failure != nil {
			result.Raw, result.Failure = failure, serverFailure(failure, t.Input)
		} else {
			s.stood()
		}
	}
	return s.rollback()
}

func (r *Result) keep(output *Output, notices *Notices) {
	if text, ok := output.Text(); ok {
		r.Output = &text
	}
	if text, ok := notices.Text(); ok {
		r.Notice = &text
	}
}

// judge says whether the run failed, by the server's word or by ours.
func (r *Result) judge(t *Task, output *Output) {
	switch {
	case r.Raw != nil && r.Reason == TimedOut && (r.Raw.Code == "57014" || r.Forgot):
		timeout := *r.Raw
		timeout.Code = "57014"
		timeout.Message = "canceling statement due to statement timeout"
		r.Failure = serverFailure(&timeout, t.Input)
	case r.Raw != nil:
		r.Failure = serverFailure(r.Raw, t.Input)
	case output.Binary():
		r.Failure = NewFailure("COPY TO STDOUT in binary format is not supported", "0A000", "STATEMENT", t.Input)
	case t.Strict && output.Over():
		r.Failure = NewFailure("output exceeds the limit", "54000", "STATEMENT", t.Input)
	}
}

func serverFailure(e *pgproto3.ErrorResponse, statement string) *Failure {
	if e == nil {
		return nil
	}
	f := &Failure{Text: ErrorText(e, statement), SQLState: sqlstate(e.Code), routine: e.Routine, where: e.Where}
	if len(e.Detail) <= detailMost {
		f.Detail = e.Detail
	}
	return f
}

// SQL can set limits that stay in its session, by a function too: each statement of ours behind it
// has its time then, and the session may not rest in a transaction. What such a limit meets is
// rolled back for certain. So nothing is done about limits before one is met: then the task runs
// once more, and what follows its SQL begins by setting them aside. What makes the session ready
// for the next task is simply tried again.

// limit tells the errors by which a limit is met. A cancel by somebody cannot be told from it, nor
// can what SQL has made FATAL (exit_on_error) of an error that we ask for.
func limit(e *pgproto3.ErrorResponse) bool {
	switch {
	case e == nil:
		return false
	case e.Code == "57014": // statement_timeout
		return true
	}
	return fatal(e) && !slices.ContainsFunc(lasting, func(class string) bool { return strings.HasPrefix(e.Code, class) })
}

// lasting are the classes of the FATAL errors that no limit brings about: somebody has ended the
// session or the server, or it cannot go on.
var lasting = []string{"57P", "08", "28", "3D", "53", "58", "XX"}

// ended takes down the loss of a session whose transaction is not to be committed: what has come of
// that is known, and the session only cannot be used any more.
func (s *Session) ended(err error) error {
	lost := new(Lost)
	if !errors.As(err, &lost) || lost.Broken {
		return err
	}
	lost.Unbegun, lost.Limited = true, true // whatever is next, and what must run once more
	s.gone, s.status = lost, 'I'
	return nil
}

// Each statement gets its full time again, and the first of these is short.
const (
	patient = "SET LOCAL statement_timeout TO '30s'"
	settled = `SELECT WHERE pg_catalog.num_nulls(pg_catalog.set_config('idle_in_transaction_session_timeout', $1, true), ` +
		`CASE WHEN pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL THEN pg_catalog.set_config('transaction_timeout', '0', true) END) OPERATOR(pg_catalog.<) 0`
)

// mostLimited is how often a limit may be met in a row by what makes a session ready.
const mostLimited = 100

// sendPatient queues what sets the limits aside that a task's SQL may have set, for the rest of its
// transaction.
func (s *Session) sendPatient() {
	s.plain(patient)
	s.call(&Statement{SQL: settled}, []byte(s.silence))
}
