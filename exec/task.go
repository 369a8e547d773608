package exec

import (
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
	Own      [][2]string // settings of the task's own, which no other may have
	Wary     bool        // no statement of ours is to be taken for prepared
	Timeout  time.Duration
	Format   Format
	Limit    int64         // of the output, in bytes
	Strict   bool          // output beyond the limit is an error
	Until    time.Time     // behind another, where it must be set: the latest moment at which it may begin, by the server's clock
	Query    bool          // on a remote, where it must not write: it is rolled back if it has, and to be run once more, otherwise
	Watched  bool          // on a remote, where it is to show whether it writes
	Ours     bool          // its transaction is made ours right behind its SQL, which is no query alone, as its end is likely to be written there
	Sending  time.Duration // how long the server may take to take it; 0: as long as to make the session ready
	Guarded  bool          // it must not run twice: nothing is sent to a session that is gone
	Settled  time.Time     // by our clock, a moment at which whatever it is to find was there; zero: not known, or it must not be run again
}

// Usual are settings that a session may share with its tasks: those of a lane, and those that most
// tasks have alike.
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
		return strings.HasPrefix(r.Raw.Routine, "_SPI_commit") || strings.HasPrefix(r.Raw.Routine, "_SPI_rollback") ||
			r.Raw.Routine == "SPI_commit" || r.Raw.Routine == "SPI_rollback"
	}
	return false
}

// Tail is what is left to do for a task whose SQL has run in our transaction: the calls that write
// its end, of which one fails when the task is no longer ours, or none; and COMMIT.
type Tail struct {
	Calls  []Call
	Input  string // of that task, for its errors
	Defers bool   // the table of the tasks has something that is checked at COMMIT

	// Within are the statements that a function runs, of which the last of Calls is the call: their
	// errors are taken for those of statements of ours.
	Within []string

	Ended func() // called when the server has said what becomes of it, and the next may follow; nil: nobody is told

	// Follows is the place in Within, or else in Calls, of the statement that writes what follows on
	// the task; 0: there is none.
	Follows int

	before int  // how many statements are sent before Calls
	partly bool // what made the transaction ours has left out what the SQL has hardly changed
}

// Verdict is what the server said to a tail.
type Verdict struct {
	Committed bool
	Refused   *Failure // the statement that writes the end failed
	Deferred  *Failure // COMMIT failed: a deferred constraint or trigger
	Forgot    bool     // refused by what the SQL has left in the session: once more, a wary one will do
}
