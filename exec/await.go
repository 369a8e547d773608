package exec

import (
	"errors"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
)

// Await reads the answers to the input that Begin has sent. When it returns, no cancel of ours is
// on its way. The error is a *Lost; the result holds what had come before.
func (s *Session) Await(t *Task) (*Result, error) {
	output, notices := text.NewOutput(t.Format, t.Limit), &text.Notices{}
	tags := tags{rollbacks: -t.Traits.Rollbacks}
	s.wire.reader.Task(output)
	failure, err := s.wire.answer(func(message pgproto3.BackendMessage) {
		switch m := message.(type) {
		case *pgproto3.RowDescription:
			output.Rows(m.Fields)
		case *pgproto3.DataRow:
			output.Row(m.Values)
		case *pgproto3.CommandComplete:
			tags.see(m.CommandTag)
			output.Complete(m.CommandTag)
		case *pgproto3.CopyOutResponse:
			output.CopyOut(m.OverallFormat != 0)
		case *pgproto3.CopyData:
			output.Copy(m.Data)
		case *pgproto3.NoticeResponse: // but for the server's warning that a BEGIN of the input has found ours
			if !t.Atomic || m.Code != "25001" || m.Routine != "BeginTransactionBlock" {
				notices.Add(m)
			}
		}
	})
	s.wire.reader.Task(nil)
	result := &Result{Raw: failure}
	answered := false
	if err == nil {
		answered, err = s.readQuestion(t, result)
	}
	if !answered {
		s.pipeline.behind = nil
	}
	result.Reason = s.cancel.exit()
	if len(s.pipeline.behind) == 0 {
		s.setup.state.left(t)
	}
	result.ReadOnly = failure != nil && failure.Code == "25006" && s.wire.readOnly && !t.Save && !t.Traits.Modes
	if text, ok := output.Text(); ok {
		result.Output = &text
	}
	if text, ok := notices.Text(); ok {
		result.Notice = &text
	}
	result.explain(t, output)
	switch {
	case err != nil:
		return result, err
	case len(s.pipeline.behind) > 0 && (tags.ended() || s.wire.status != 'T'):
		return result, &Lost{Cause: errors.New("a query has ended its transaction")}
	case result.Failure == nil && answered && !tags.ended() && s.wire.status == 'T':
		result.Open = true
		return result, nil
	}
	return result, s.closeTransaction(t, result)
}

// readQuestion reads the answers to the question and to the Sync after it, and tells whether the
// question was answered.
func (s *Session) readQuestion(t *Task, result *Result) (answered bool, err error) {
	if t.Atomic && t.Traits.Stdin {
		s.pipeline.probing = s.question.ask(t)
		s.wire.sync()
		if err := s.wire.flush(); err != nil {
			return false, err
		}
	}
	if !s.question.local { // the question has a limit, though SQL may have none
		s.wire.within(s.wire.limit)
		defer s.wire.unlimited()
	}
	n := s.pipeline.probing
	s.pipeline.probing = 0
	if n == 0 && t.Traits.Stdin {
		return false, nil
	}
	rows := 0
	var bad error
	failure, err := s.wire.answers(n, func(values [][]byte) {
		rows++
		bad = errors.Join(bad, result.hear(values))
	}, nil)
	switch {
	case err != nil:
		return false, err
	case failure != nil && result.Raw == nil:
		result.Raw = failure
		result.Alone = failure.Code == "22P02" && (t.Query || s.pipeline.open)
		return false, nil
	case failure != nil:
		return false, nil
	case bad != nil || n > 0 && rows != 1:
		return false, &Lost{Cause: errors.Join(errAnswer, bad), Broken: true}
	case len(s.pipeline.behind) == 0:
		err = s.wire.synced()
	}
	return n > 0 && err == nil, err
}

// closeTransaction ends a transaction that is open and has no tail: one that has failed, or that
// the input has begun itself.
func (s *Session) closeTransaction(t *Task, result *Result) error {
	if s.wire.status == 'I' {
		return nil
	}
	s.wire.within(s.wire.limit)
	defer s.wire.unlimited()
	if s.wire.status == 'T' && result.Failure == nil {
		failure, err := s.wire.ask("COMMIT")
		if err != nil {
			return err
		}
		if failure != nil {
			result.Raw, result.Failure = failure, text.ServerFailure(failure, t.Input)
		}
	}
	return s.setup.rollback()
}

// explain says why the run failed, if it did: by an error of the server's, or by a rule of ours.
func (r *Result) explain(t *Task, output *text.Output) {
	switch {
	case r.Raw != nil:
		shown := *r.Raw
		switch {
		case r.Reason == TimedOut && shown.Code == queryCanceled:
			shown.Message = "canceling statement due to statement timeout"
		case t.Claim != nil && shown.Hint == "" && (shown.Code == "25001" || shown.Code == "40001"):
			shown.Hint = claimHint
		}
		r.Failure = text.ServerFailure(&shown, t.Input)
	case output.Binary():
		r.Failure = text.NewFailure("COPY TO STDOUT in binary format is not supported", "0A000", "STATEMENT", t.Input)
	case t.Strict && output.Over():
		r.Failure = text.NewFailure("output exceeds the limit", "54000", "STATEMENT", t.Input)
	}
}

// claimHint explains an error that only a claimed task meets: another transaction of ours has
// written to its row since its own began.
const claimHint = "The task locks its own row, or the table of tasks, so its row is prepared before its SQL begins: " +
	"it cannot choose its isolation level, nor run in REPEATABLE READ or SERIALIZABLE."

// queryCanceled is the code of a time limit, and of a cancel by anybody.
const queryCanceled = "57014"
