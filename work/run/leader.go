package run

import (
	"context"
	"time"

	"pgtaskd/exec/text"
)

// Leader is all that runners see of the one who leads the target. Outcome and Wake return at once.
// The others wait until the leader has been at the server, and answer no when ctx ends.
type Leader interface {
	// Outcome tells what was seen of a task that the runner has done with.
	Outcome(o Outcome)
	// Mark has the row show WORK for a session before the task starts.
	Mark(ctx context.Context, t *Task, m Marking) Answer
	// Text brings a long text of the row, or its names.
	Text(ctx context.Context, t *Task, pid int32, which Text) Answer
	// Prepare has the row show the transaction that is to commit next on that session; the failure
	// tells why the table refuses it.
	Prepare(ctx context.Context, t *Task, p Preparation) (Prepared, *text.Failure)
	// Leads tells whether it leads, as the server says after the question.
	Leads(ctx context.Context) bool
	// Wake tells it that a session is free.
	Wake()
}

// Marking is what the row of a task is to show before it starts: WORK, and the session.
type Marking struct {
	PID     int32
	Exactly bool // the effects of the run happen exactly once
	Guarded bool // the mark must be on the server's disk
}

// Text names what the leader is to bring.
type Text int

// What a leader brings.
const (
	LongNames Text = iota // with the sizes of the texts
	LongInput
	LongData
)

// Answer is what the leader says.
type Answer struct {
	OK      bool
	Refused *text.Failure // the row does not take the mark, or the text cannot be read
	Sizes   *Sizes
	Text    *string // nil: it is too long by now, or there is none
}

// Preparation is what the row of a task is to show before its transaction commits: WORK, and the
// transaction.
type Preparation struct {
	PID            int32
	Since          time.Time // start of that backend
	Start, Stop    time.Time // zero: it has not stopped
	Xact           int64
	Exactly        bool // the effects of the run happen exactly once
	Output, Notice *string
	Claims         bool // its SQL has not begun, and will run in that transaction
}

// Prepared says what became of a preparation.
type Prepared int

// What becomes of a preparation. Nothing but Taken lets its transaction commit.
const (
	Untaken     Prepared = iota // the row is not ours any more, or nobody leads
	Taken                       // the row says so, and that is committed
	OwnLock                     // the run itself holds the lock that keeps the row, or the table
	OthersLock                  // somebody else has held it for too long
	Unprepared                  // the table refuses it: see the failure
	Unreachable                 // the leader's connection was lost: it may have been taken
)
