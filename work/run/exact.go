package run

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
)

// exact decides whether a task runs exactly once on its remote: its SQL allows that, and the remote
// can tell later how its transaction has ended. If the remote cannot be reached now, this returns
// the outcome of the task.
func (d *Dispatcher) exact(ctx context.Context, a *attempt, session *pool.Session) (unreached *Outcome) {
	began := time.Now()
	can, err := d.Pool.Fences.Exact(ctx, session)
	if err != nil {
		o := Outcome{Task: a.task, Kind: Released, Stop: d.Clock.Now()}
		d.unopened(ctx, &o, began, err)
		return &o
	}
	if can {
		a.atomic, a.exact, a.watch = true, true, false
	}
	return nil
}

// prepare makes the row show the transaction that holds the effects of the run. On a remote, the
// fence comes first. The failure tells why the remote or the table refuses that.
func (d *Dispatcher) prepare(t *Task, session *pool.Session, p Preparation) (Prepared, *text.Failure) {
	if t.Row.Remote != "" {
		if err := d.Pool.Fences.Commit(d.Group.Context(), session, p.Xact); err != nil {
			return Unfenced, fenceFailure(err, *t.Row.Input)
		}
		p.Place = session.Place.At
	}
	t.xact.Store(p.Xact)
	answer, refused := d.Leader.Prepare(d.Group.Context(), t, p)
	if answer != Taken && answer != Unreachable {
		t.xact.Store(0)
	}
	return answer, refused
}

// unfencedWait is how long a task waits whose remote could not make sure of its transaction.
const unfencedWait = time.Second

// fenceFailure is the failure of a run that was rolled back because its remote could not make sure
// of its transaction.
func fenceFailure(err error, input string) *text.Failure {
	code, message := "08006", "the connection was lost"
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		code, message = answer.Code, answer.Message
	}
	return text.NewFailure("task was interrupted", code, "DETAIL",
		"The remote could not make sure that it remembers the task's transaction: "+message+". What the task has done is rolled back.",
		"STATEMENT", input)
}
