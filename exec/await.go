package exec

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Await reads what comes of the input that Begin has sent. After it no cancel of ours is on its
// way. The error is a *Lost; the result holds what had come before that.
func (s *Session) Await(t *Task) (*Result, error) {
	output, notices := NewOutput(t.Format, t.Limit), &Notices{}
	tags := tags{traits: t.Traits}
	s.reader.task(output)
	failure, err := s.answer(sink{
		rows: output.Rows, row: output.Row, complete: func(tag []byte) {
			tags.see(tag)
			output.Complete(tag)
		},
		copyOut: output.CopyOut, copied: output.Copy, notice: t.noticed(notices),
	})
	s.reader.task(nil)
	result := &Result{Raw: failure}
	answered := false
	if err == nil {
		answered, err = s.readQuestion(t, result)
	}
	if !answered {
		s.behind = nil
	}
	result.Reason = s.cancel.exit()
	if len(s.behind) == 0 {
		s.left(t)
	}
	result.Barred = failure != nil && failure.Code == "25006" && s.readOnly && !t.Save && !t.Traits.Modes
	result.keep(output, notices)
	result.judge(t, output)
	switch {
	case err != nil:
		return result, err
	case len(s.behind) > 0 && (tags.ended() || s.status != 'T'):
		return result, &Lost{Cause: errors.New("a query has ended its transaction")}
	case result.Failure == nil && answered && !tags.ended() && s.status == 'T':
		result.Open = true
		return result, nil
	}
	return result, s.closeTransaction(t, result)
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
	case r.Raw != nil && r.Reason == TimedOut && r.Raw.Code == queryCanceled:
		timeout := *r.Raw
		timeout.Message = "canceling statement due to statement timeout"
		r.Failure = serverFailure(&timeout, t.Input)
	case r.Raw != nil && t.Claim != nil && r.Raw.Hint == "" && (r.Raw.Code == "25001" || r.Raw.Code == "40001"):
		hinted := *r.Raw
		hinted.Hint = claimHint
		r.Failure = serverFailure(&hinted, t.Input)
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
	f := &Failure{Text: ErrorText(e, statement), SQLState: sqlstate(e.Code), routine: e.Routine}
	if len(e.Detail) <= detailMost {
		f.Detail = e.Detail
	}
	return f
}

// claimHint says why the server refuses what else it takes: another transaction of ours has written to
// the row since that of the task began.
const claimHint = "The task locks its own row, or the table of tasks, so its row is prepared before its SQL begins: " +
	"it cannot choose its isolation level, nor run in REPEATABLE READ or SERIALIZABLE."

// queryCanceled is the code by which a time limit is met. A cancel by somebody cannot be told from it.
const queryCanceled = "57014"
