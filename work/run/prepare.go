package run

import (
	"errors"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
)

// Preparation is what the row of a task is to show before its transaction commits: WORK, and the
// transaction.
type Preparation struct {
	PID            int32
	Since          time.Time // start of that backend
	Start, Stop    time.Time // zero: it has not stopped
	Xact           int64
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

// asks has the row show the transaction in which the run's effects are. The error tells why the table
// refuses it.
func (r *runner) asks(t *Task, p Preparation) (Prepared, *text.Failure) {
	t.xact.Store(p.Xact)
	answer, refused := r.Leader.Prepare(r.Group.Context(), t, p)
	if answer != Taken && answer != Unreachable {
		t.xact.Store(0)
	}
	return answer, refused
}

// claims has the row of a task that locks it, or its table, show the transaction before its SQL
// begins, which runs in just that.
func (r *runner) claims(t *Task, spec *exec.Task) {
	spec.Claim = func(xact int64) bool {
		now := r.Clock.Now()
		t.claim, t.refused = r.asks(t, Preparation{PID: int32(r.session.PID), Since: r.session.Since, Start: now, Xact: xact, Claims: true})
		t.claimed.Store(t.claim == Taken)
		return t.claim == Taken
	}
}

// untaken says what follows for a task whose row has not taken its preparation. What it has done is
// rolled back. When the run itself is in the way, it is returned, to run once more.
func (r *runner) untaken(answer Prepared, refused *text.Failure, o Outcome) (again *Task) {
	t := o.Task
	switch answer {
	case OwnLock:
		if !t.ahead && t.Row.Rerun {
			t.ahead = true
			return t
		}
		o.Kind, o.Fault = Finished, ownLock(t)
	case OthersLock:
		o.Kind, o.Delay = Refused, time.Millisecond
	case Unprepared:
		o.Kind, o.Fault = Finished, refused
	case Unreachable:
		o.Kind, o.Fault = Lost, lostFailure(errors.New("the leader's connection was lost"), t)
	default:
		o.Kind = Refused
	}
	r.note(o)
	return nil
}

// ownLock is the error of a task that keeps its own row from being written and may not run again.
func ownLock(t *Task) *text.Failure {
	return text.NewFailure("the task has locked its own row, or the table of tasks, so that its end could not be written", "55006",
		"DETAIL", "What it has done is rolled back.", "HINT", "With rerun = true it would have been run once more, in another way.",
		"STATEMENT", *t.Row.Input)
}
