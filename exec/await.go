package exec

import (
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// probe tells whether our transaction is still the one that Begin opened, and whether it has written. A cursor WITH HOLD may
// write at COMMIT: hence CLOSE ALL, or, where cursors are to be kept, a look whether there is one.
func (t *Task) probe() string {
	const times = `pg_catalog.timestamptz_send(pg_catalog.transaction_timestamp()), pg_catalog.timestamptz_send(pg_catalog.clock_timestamp())`
	if t.Save {
		return `SELECT coalesce(pg_catalog.txid_current_if_assigned(), (SELECT 1 FROM pg_catalog.pg_cursors AS c WHERE c.is_holdable LIMIT 1)), ` + times
	}
	return `CLOSE ALL; SELECT pg_catalog.txid_current_if_assigned(), ` + times
}

// Await reads what comes of the input that Begin has sent. After it no cancel of ours is on its way. The error is a *Lost; the
// result holds what had come before that.
func (s *Session) Await(t *Task, start time.Time) (*Result, error) {
	output, notices := NewOutput(t.Format, t.Limit), &Notices{}
	output.Encoding(s.encoding)
	var binary bool
	failure, err := s.answer(sink{
		rows: output.Rows, row: output.Row, complete: output.Complete,
		copyOut: func(b bool) { output.CopyOut(); binary = binary || b },
		copied: func(data []byte) {
			if !binary {
				output.Copy(data)
			}
		}, notice: t.noticed(notices), encoding: output.Encoding,
	})
	result := &Result{Raw: failure}
	ours := false
	if err == nil && t.Atomic {
		ours, err = s.readProbe(t, start, result)
	}
	result.Reason = s.settle()
	result.keep(output, notices)
	result.judge(t, output, binary)
	switch {
	case err != nil:
		return result, err
	case result.Failure == nil && ours && s.status == 'T':
		result.Open = true
		return result, nil
	default:
		return result, s.closeTransaction(t, result)
	}
}

// noticed keeps the notices of a run, without the server's warning that a BEGIN of the input found ours.
func (t *Task) noticed(notices *Notices) func(*pgproto3.NoticeResponse) {
	return func(n *pgproto3.NoticeResponse) {
		if !t.Atomic || n.Code != "25001" || n.Routine != "BeginTransactionBlock" {
			notices.Add(n)
		}
	}
}

// readProbe asks what probe asks, if Begin has not, and tells whether the transaction is still ours.
func (s *Session) readProbe(t *Task, start time.Time, result *Result) (ours bool, err error) {
	if t.Traits.Stdin {
		s.query(t.probe())
		if err := s.flush(); err != nil {
			return false, err
		}
	}
	var began time.Time
	failure, err := s.answer(sink{row: func(values [][]byte) {
		result.Wrote = values[0] != nil
		began, _ = moment(values[1])
		result.Stop, _ = moment(values[2])
	}})
	if failure != nil && result.Raw == nil {
		result.Raw = failure // a cancel that came too late for the input and hit the probe
	}
	return failure == nil && began.Equal(start), err
}

// closeTransaction ends a transaction that is open and not to be finished by a tail: one that has failed, or that the input has left.
func (s *Session) closeTransaction(t *Task, result *Result) error {
	switch {
	case s.status == 'I':
		return nil
	case s.status == 'T' && result.Failure == nil:
		s.query("COMMIT")
	default:
		s.query("ROLLBACK")
	}
	s.limited(true)
	defer s.limited(false)
	if err := s.flush(); err != nil {
		return err
	}
	failure, err := s.answer(sink{})
	if failure != nil && result.Failure == nil {
		result.Raw, result.Failure = failure, serverFailure(failure, t.Input)
	}
	return err
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
func (r *Result) judge(t *Task, output *Output, binary bool) {
	switch {
	case r.Raw != nil && r.Reason == TimedOut && r.Raw.Code == "57014":
		timeout := *r.Raw
		timeout.Message = "canceling statement due to statement timeout"
		r.Failure = serverFailure(&timeout, t.Input)
	case r.Raw != nil:
		r.Failure = serverFailure(r.Raw, t.Input)
	case binary:
		r.Failure = NewFailure("COPY TO STDOUT in binary format is not supported", "0A000", "STATEMENT", t.Input)
	case t.Strict && output.Over():
		r.Failure = NewFailure("output exceeds the limit", "54000", "STATEMENT", t.Input)
	}
}

func serverFailure(e *pgproto3.ErrorResponse, statement string) *Failure {
	if e == nil {
		return nil
	}
	return &Failure{Text: ErrorText(e, statement), SQLState: e.Code}
}
