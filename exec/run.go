package exec

import (
	"fmt"
	"strconv"
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
	Settings [][2]string // names and values, of the session
	Timeout  time.Duration
	Format   Format
	Limit    int64 // of the output, in bytes
	Strict   bool  // output beyond the limit is an error
}

// Result is what came of a run.
type Result struct {
	Output  *string
	Notice  *string
	Failure *Failure                // nil: the SQL ran well
	Raw     *pgproto3.ErrorResponse // the server's error behind Failure, if it is the server's
	Reason  Reason                  // why it was cancelled, if it was
	Stop    time.Time               // when it ended, by the server's clock; zero: when this is read
	Open    bool                    // our transaction is open, its end can be written in it
	Wrote   bool                    // the transaction may have an effect
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

// Tail is what is left to do for a task whose SQL has run in our transaction: its end, as SQL without parameters that raises
// an error when the task is no longer ours, or nothing; and COMMIT.
type Tail struct {
	SQL   string
	Input string  // of that task, for its errors
	Path  *string // search_path for the triggers of the table; nil: empty
}

// Verdict is what the server said to a tail.
type Verdict struct {
	Committed bool
	Refused   *Failure // the statement that writes the end failed
	Deferred  *Failure // COMMIT failed: a deferred constraint or trigger
}

// ownTimes are the limits under which we write the end of a task, whatever its SQL has set.
const ownTimes = `RESET SESSION AUTHORIZATION; RESET ROLE; SET LOCAL statement_timeout TO '30s'; ` +
	`SET LOCAL lock_timeout TO '5s'; SET LOCAL row_security TO 'on'; `

// Begin finishes the task before (tail may be nil) and makes the session new unless the task wants it as it is, in one flush; when that is
// answered it sends the task's SQL, and returns: the input is under way then, since start by the server's clock. It must not be sent before:
// a preparation that fails before its BEGIN, as by somebody's cancel request, would leave it to run outside any transaction. The error is a *Lost, or a *Failure of the preparation (the task has not started). A verdict that is not nil counts in
// any case.
func (s *Session) Begin(tail *Tail, t *Task) (verdict *Verdict, start time.Time, err error) {
	s.limited(true)
	s.sendTail(tail)
	reset := s.dirty && !t.Keep
	if reset {
		s.query("DISCARD ALL")
	}
	s.query(s.prepare(t, reset || !s.dirty))
	s.dirty, s.timeoutSet = true, t.Timeout > 0
	s.enter()
	if err := s.flush(); err != nil {
		return nil, start, err
	}
	if verdict, err = s.readTail(tail); err != nil {
		return verdict, start, err
	}
	if start, err = s.readPrepared(t, reset); err != nil {
		return verdict, start, err
	}
	s.sendInput(t)
	if err := s.flush(); err != nil {
		return verdict, time.Time{}, err
	}
	s.limited(false)
	if t.Timeout > 0 { // the server's own statement_timeout comes first where it can
		s.deadline = time.AfterFunc(min(t.Timeout, mostTimeout)+5*time.Millisecond, func() { s.Cancel(TimedOut) })
	}
	return verdict, start, nil
}

func (s *Session) sendInput(t *Task) {
	s.query(t.Input)
	if t.Atomic && !t.Traits.Stdin {
		s.query(t.probe())
	}
}

// readPrepared reads the answers to the reset and the settings.
func (s *Session) readPrepared(t *Task, reset bool) (start time.Time, err error) {
	if reset {
		failure, err := s.answer(sink{})
		if err != nil {
			return start, err
		}
		if failure != nil {
			return start, &Lost{Cause: fmt.Errorf("the session could not be reset: %s (SQLSTATE %s)", failure.Message, failure.Code)}
		}
	}
	var bad error
	failure, err := s.answer(sink{row: func(values [][]byte) { start, bad = moment(values[0]) }})
	switch {
	case err != nil:
		return time.Time{}, err
	case failure != nil:
		return time.Time{}, s.unprepared(t, failure)
	case bad != nil:
		return time.Time{}, &Lost{Cause: bad}
	}
	return start, nil
}

// mostTimeout is longer than any run, and short enough to add to it.
const mostTimeout = 100 * 365 * 24 * time.Hour

// prepare is the message that sets what the session of a task shows, and opens its transaction. The time that it returns is the
// transaction's own (transaction_timestamp) since all commands of one message share it; nothing takes a snapshot after BEGIN,
// so that the input may still choose its isolation level. What a fresh session shows by itself need not be set.
func (s *Session) prepare(t *Task, fresh bool) string {
	var b strings.Builder
	b.WriteString("BEGIN; ")
	for _, setting := range t.Settings {
		if !fresh || s.base[setting[0]] != setting[1] {
			set(&b, setting[0], setting[1])
		}
	}
	switch ms := (t.Timeout-1)/time.Millisecond + 1; {
	case t.Timeout > 0 && ms < 1<<31:
		set(&b, "statement_timeout", strconv.FormatInt(int64(ms), 10))
	case s.timeoutSet && !fresh:
		b.WriteString("RESET statement_timeout; ")
	}
	b.WriteString("SELECT pg_catalog.timestamptz_send(pg_catalog.statement_timestamp()); COMMIT")
	if t.Atomic {
		b.WriteString("; BEGIN")
	}
	return b.String()
}

// set writes SET: that costs a third of what set_config does. The parts of a name such as pg_task.group are quoted.
func set(b *strings.Builder, name, value string) {
	b.WriteString("SET ")
	for i, part := range strings.Split(name, ".") {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(Identifier(part))
	}
	b.WriteString(" TO ")
	b.WriteString(Literal(value))
	b.WriteString("; ")
}

// unprepared ends a preparation that failed. A new session would not take the settings either, so this is the task's failure.
func (s *Session) unprepared(t *Task, failure *pgproto3.ErrorResponse) error {
	if s.settle() != NotCancelled {
		s.Abandon()
	}
	if err := s.closeTransaction(t, &Result{Failure: serverFailure(failure, t.Input)}); err != nil {
		return err
	}
	return serverFailure(failure, t.Input)
}

// sendTail queues what is left to do for the task before; readTail reads what the server said to it.
func (s *Session) sendTail(tail *Tail) {
	if tail == nil {
		return
	}
	if tail.SQL != "" {
		if s.encoding != "UTF8" {
			s.query("SET client_encoding TO 'UTF8'")
		}
		path := "SET LOCAL search_path TO ''; "
		if tail.Path != nil {
			path = "SELECT pg_catalog.set_config('search_path', " + Literal(*tail.Path) + ", true); "
		}
		s.query(ownTimes + path + tail.SQL)
	}
	s.query("COMMIT")
}

func (s *Session) readTail(tail *Tail) (*Verdict, error) {
	if tail == nil {
		return nil, nil
	}
	verdict := &Verdict{}
	if tail.SQL != "" {
		if s.encoding != "UTF8" {
			if _, err := s.answer(sink{}); err != nil {
				return nil, err
			}
		}
		refused, err := s.answer(sink{})
		if err != nil {
			return nil, err
		}
		verdict.Refused = serverFailure(refused, tail.Input)
	}
	var tag string
	deferred, err := s.answer(sink{complete: func(t []byte) { tag = string(t) }})
	if err != nil {
		return nil, err
	}
	verdict.Deferred = serverFailure(deferred, tail.Input)
	verdict.Committed = deferred == nil && verdict.Refused == nil && tag == "COMMIT"
	return verdict, nil
}

// End does what Begin does for the task before, when none comes after it.
func (s *Session) End(tail *Tail) (*Verdict, error) {
	s.limited(true)
	defer s.limited(false)
	s.sendTail(tail)
	if err := s.flush(); err != nil {
		return nil, err
	}
	return s.readTail(tail)
}

// Reset makes the session new, which the next Begin need not do then.
func (s *Session) Reset() error {
	if !s.dirty {
		return nil
	}
	s.limited(true)
	defer s.limited(false)
	s.query("DISCARD ALL")
	if err := s.flush(); err != nil {
		return err
	}
	failure, err := s.answer(sink{})
	if err == nil && failure != nil {
		err = &Lost{Cause: fmt.Errorf("the session could not be reset: %s (SQLSTATE %s)", failure.Message, failure.Code)}
	}
	s.dirty = err != nil
	return err
}
