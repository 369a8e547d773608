package exec

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
)

// Task is what a session has to know of a task in order to run it.
type Task struct {
	Input    string
	Traits   traits.Traits
	Atomic   bool        // in a transaction of ours
	Keep     bool        // the state that the task before has left in the session
	Save     bool        // the state that it leaves, for the next
	Settings [][2]string // names and values, set for each task; the names are the same for all tasks of a session
	Usual    Usual       // likewise, set only where the session does not show them by now
	Own      [][2]string // settings of the task's own, which no other may have
	Timeout  time.Duration
	Format   text.Format
	Limit    int64         // of the output, in bytes
	Strict   bool          // output beyond the limit is an error
	Until    time.Time     // it may not begin later, by the server's clock; set for a task after another
	Query    bool          // on a remote: it must not write; if it has, it is rolled back, and runs once more otherwise
	Forced   bool          // its transaction has an id, whatever it has done: what it does may take effect without one
	Sending  time.Duration // how long the server may take to take it; 0: as long as to make the session ready
	Guarded  bool          // it must not run twice: nothing is sent to a session that is gone

	// Claim is asked before the SQL goes to the server, with the id of its transaction; when it
	// says no, nothing is sent, and Begin returns ErrUnclaimed. nil: there is nothing to ask.
	Claim func(xact int64) bool
}

// constant tells whether a task runs nothing but constants, which leave nothing, and find nothing.
func (t *Task) constant() bool { return t.Traits.Inert && len(t.Own) == 0 }

// alone tells whether the SQL of a task is sent when all before it has been answered.
func (t *Task) alone() bool { return t.Traits.Stdin || t.Claim != nil }

// pipelined tells whether a session can have other tasks after this one.
func (t *Task) pipelined() bool {
	return t.Atomic && !t.Strict && (t.constant() || !t.Save && len(t.Own) == 0) && t.Traits.Pipelines()
}

// Usual are settings that a session may share with its tasks: those of a lane, and those that most
// tasks have alike.
type Usual [2][][2]string

// Result is what came of a run.
type Result struct {
	Output   *string
	Notice   *string
	Failure  *text.Failure           // nil: the SQL ran well
	Raw      *pgproto3.ErrorResponse // the server's error that Failure shows, if it is the server's
	Reason   Reason                  // why it was cancelled, if it was
	Stop     time.Time               // when it ended, by the server's clock; zero: when this is read
	Open     bool                    // our transaction is open
	Xact     int64                   // the id of that; 0: it has none, so that nothing in it can be lost
	Alone    bool                    // rolled back, as it may have written where it must not: it runs again, alone and not as a Query
	ReadOnly bool                    // it failed because the server takes no writes, and not by the SQL itself
}

// Wrote tells whether the transaction may have an effect.
func (r *Result) Wrote() bool { return r.Xact != 0 }

// Retry tells whether the SQL failed only because it ran inside a transaction. The routine tells
// the server's own error from one that was raised by SQL with the same code.
func (r *Result) Retry() bool {
	if r.Raw == nil {
		return false
	}
	switch r.Raw.Code {
	case "25001":
		return r.Raw.Routine == "PreventInTransactionBlock"
	case "2D000":
		routine := strings.TrimPrefix(r.Raw.Routine, "_")
		return strings.HasPrefix(routine, "SPI_commit") || strings.HasPrefix(routine, "SPI_rollback")
	}
	return false
}

// Tail is what is left to do for a task whose SQL has run in our transaction: COMMIT.
type Tail struct {
	Input string // of that task, for its errors
}

// Verdict is what the server said to COMMIT.
type Verdict struct {
	Committed bool
	Failure   *text.Failure // why not: a deferred constraint or trigger, a conflict
}
