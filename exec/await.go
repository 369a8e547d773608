package exec

import (
	"bytes"
	"errors"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
	"pgtaskd/human"
	"pgtaskd/routine"
)

// Await reads the answers to the input that Begin has sent. When it returns, no cancel request of
// ours is on its way. The error is a *Lost, with the result up to the loss.
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
		case *pgproto3.NoticeResponse: // drops the server's warning that the input's BEGIN is inside our transaction
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
	result.Reason = s.cancel.exit()
	result.ReadOnly = failure != nil && failure.Code == "25006" && s.wire.readOnly && !t.Save && !t.Traits.Modes
	if text, ok := output.Text(); ok {
		result.Output = &text
	}
	if text, ok := notices.Text(); ok {
		result.Notice = &text
	}
	result.explain(t, output, time.Since(s.cancel.began))
	open := s.wire.status == 'T' && !tags.ended() // the transaction in which the input began
	switch {
	case err != nil:
		return result, err
	case !open && s.Behind() > 0:
		return result, &Lost{Cause: errors.New("a query has ended its transaction")}
	case open && answered && result.Failure == nil:
		result.Open = true
		return result, nil
	}
	return result, s.closeTransaction(t, result)
}

// readQuestion reads the answers to the question, and to the Sync if no task follows. answered: the
// server has answered the question. A failure of the input makes the question fail, too.
func (s *Session) readQuestion(t *Task, result *Result) (answered bool, err error) {
	if t.Traits.Stdin {
		if !t.Atomic { // nothing was sent after the input
			return false, nil
		}
		s.pipeline.probing = s.question.ask(t)
		s.wire.sync()
		if err := s.wire.flush(); err != nil {
			return false, err
		}
	}
	if !s.question.local { // the question has a time limit, the SQL need not have one
		s.wire.within(s.wire.limit)
		defer s.wire.unlimited()
	}
	rows := 0
	var bad error
	failure, err := s.wire.answers(s.pipeline.probing, func(values [][]byte) {
		rows++
		bad = errors.Join(bad, result.hear(values))
	}, nil)
	switch {
	case err != nil:
		return false, err
	case failure != nil:
		if s.skipped(); result.Raw == nil {
			result.Raw = failure
			result.Alone = failure.Code == "22P02" && (t.Query || s.pipeline.open)
		}
		return false, nil
	case bad != nil || t.Atomic && rows != 1:
		return false, &Lost{Cause: errors.Join(errAnswer, bad), Broken: true}
	case s.Behind() == 0:
		err = s.wire.synced()
	}
	return t.Atomic && err == nil, err
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

// explain sets Failure if the run failed, by an error of the server's or by a rule of ours. The run
// took at least so long.
func (r *Result) explain(t *Task, output *text.Output, took time.Duration) {
	switch {
	case r.Raw != nil:
		shown, passed := *r.Raw, t.Timeout > 0 && took >= t.Timeout-timeoutMargin
		switch {
		case r.Reason == TimedOut && shown.Code == queryCanceled:
			shown.Message, shown.Detail = TimeoutMessage, TimeoutDetail(t.Timeout)
		case shown.Code == queryCanceled && (shown.Message == TimeoutMessage || passed && r.Reason == NotCancelled && interrupted(&shown)):
			shown.Detail = foreignTimeout
			if passed {
				shown.Detail = TimeoutDetail(t.Timeout)
			}
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

// TimeoutMessage is the server's message when a statement_timeout has passed, and ours when the
// task's timeout has.
const TimeoutMessage = "canceling statement due to statement timeout"

// TimeoutDetail says that the timeout of the task has passed.
func TimeoutDetail(timeout time.Duration) string {
	return "The task's timeout of " + human.Duration(timeout) + " has passed."
}

// foreignTimeout is the detail if another timeout has passed. A run in a pipeline can seem shorter
// by timeoutMargin than the server's time for it.
const (
	foreignTimeout = "This is not the task's timeout: a statement_timeout is set for the role, the database or the server, in the task's settings, or by its SQL."
	timeoutMargin  = 50 * time.Millisecond
)

// claimHint explains an error that only a task with a Claim gets: another transaction of ours wrote
// to the task's row after the task's transaction had begun.
const claimHint = "The task locks its own row, or the table of tasks, so its row is prepared before its SQL begins: " +
	"it cannot choose its isolation level, nor run in REPEATABLE READ or SERIALIZABLE."

// queryCanceled is the code of the error after a time limit, and after anybody's cancel request.
const queryCanceled = "57014"

// interrupted reports whether an error of this code is the server's own, and may be that of a time
// limit: in English the message tells. In another language it does not.
func interrupted(failure *pgproto3.ErrorResponse) bool {
	return failure.Routine == "ProcessInterrupts" && failure.Message != "canceling statement due to user request"
}

// A server that waits for us to read does not read itself. So the data that we send before we read
// must fit into the socket buffers, or a second goroutine must write while we read. Otherwise both
// sides could wait forever: settings can make each answer as long as they like.

// atOnce is how many bytes we write before we read. The socket buffers hold this much, even if the
// server reads nothing.
const atOnce = 32 << 10

// outlet is the writer of pgproto3. It passes on short writes. It starts a goroutine for each long
// write, so that the caller can read the answers meanwhile; landed awaits that goroutine.
type outlet struct {
	to      io.Writer
	conn    net.Conn       // nil while the session is being opened: then all writes are passed on
	crew    *routine.Group // owns the goroutine
	sending <-chan error   // gets the result of a long write; nil: none is under way
}

func (o *outlet) Write(p []byte) (int, error) {
	if o.conn == nil || len(p) <= atOnce {
		return o.to.Write(p)
	}
	late, done := bytes.Clone(p), make(chan error, 1)
	o.sending = done
	o.crew.Go(func() {
		_, err := o.conn.Write(late)
		if err != nil { // no answer follows, but the server may still send a last error
			_ = o.conn.SetDeadline(time.Now().Add(lastWord))
		}
		done <- err
	})
	return len(p), nil
}

// landed waits until the long write is done.
func (o *outlet) landed() (err error) {
	if o.sending != nil {
		err = <-o.sending
		o.sending = nil
	}
	return err
}

// lastWord limits the wait for the server's last error after a write has failed.
const lastWord = 100 * time.Millisecond

// readTail reads the answers to the n statements of a tail. refused: COMMIT has failed, and the
// server has skipped everything after it.
func (s *Session) readTail(tail *Tail, n int) (verdict *Verdict, refused bool, err error) {
	committed, ended := false, false
	s.wire.unreplicated = false
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
	case s.wire.unreplicated && !s.question.local: // a failover may lose it, and our own table has no part in that
		return nil, false, &Lost{Cause: errUnreplicated}
	case !committed:
		return &Verdict{Failure: text.NewFailure("the transaction could not be committed", "40000")}, false, nil
	}
	return &Verdict{Committed: true}, false, nil
}

// End commits the previous task when no other task follows.
func (s *Session) End(tail *Tail) (*Verdict, error) {
	s.wire.within(s.wire.limit)
	defer s.wire.unlimited()
	s.setup.commit(false)
	s.wire.sync()
	n := s.wire.queued()
	if err := s.wire.flush(); err != nil {
		return nil, err
	}
	verdict, refused, err := s.readTail(tail, n)
	if err == nil && !refused {
		err = s.wire.synced()
	}
	return verdict, err
}

// Rollback rolls the open transaction back. The error is a *Lost; the transaction is rolled back
// even then.
func (s *Session) Rollback() error {
	s.wire.within(s.wire.limit)
	defer s.wire.unlimited()
	return s.setup.rollback()
}

// Reset brings the session back to its start now, so that the next Begin is faster.
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
