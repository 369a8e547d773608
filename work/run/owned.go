package run

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// lookLimit bounds how long the end of a run waits for the look at who owns the table.
const lookLimit = 10 * time.Second

// isOwned tells whether the end that is pending may be written to the table, as it is now. Where the
// transaction of the run sees it as it was long ago, another session looks: one of its own, since the
// leader's may wait for a lock that the run has, and a run goes on while another controller leads.
// The run locks the table against changes before, if it may: another role than the target's has one
// token for a transaction, which the end takes.
func (r *runner) isOwned() bool {
	ctx, cancel := context.WithTimeout(r.Group.Context(), lookLimit)
	defer cancel()
	dated, err := r.session.Dated(ctx)
	if err != nil || !dated {
		return true // what is wrong with the session, or the transaction, the end meets as well
	}
	r.post()
	if r.before.task.Row.Role.Name == "" {
		hold := exec.Call{Statement: &exec.Statement{SQL: r.Queries.Load().Hold()}}
		if verdict, err := r.session.Hold(&exec.Tail{Calls: []exec.Call{hold}}); verdict != nil || err != nil {
			r.conclude(verdict, err)
			r.leave()
			return false
		}
	}
	conn, err := r.Pool.Aside(ctx)
	if err != nil {
		r.giveBack(unseen())
		return false
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, r.Queries.Load().Text("masters")).ReadAll()
	var answer *pgconn.PgError
	switch {
	case err == nil:
		return true
	case errors.As(err, &answer) && answer.Code == "22012": // masters divides by zero
		r.giveBack(givenAway())
	default:
		r.giveBack(unseen())
	}
	return false
}

// giveBack rolls back the run whose end is pending.
func (r *runner) giveBack(fault *exec.Failure) {
	p := r.before
	r.before = nil
	r.note(Outcome{
		Task: p.task, Kind: Refused, PID: int32(r.session.PID), Since: r.session.Since, Start: p.start, Stop: p.result.Stop,
		Result: p.result, Heavy: p.heavy, Fault: fault, Delay: time.Millisecond,
	})
	r.leave()
}

// givenAway is the error of a task in whose table others' triggers may have come to run.
func givenAway() *exec.Failure {
	return exec.NewFailure("the table of tasks, or a part of it, was given to another owner while the task ran", "55000",
		"DETAIL", "The effects of the task are rolled back.", "HINT", "The log of pgtaskd says what it serves, and whom it trusts.")
}

// unseen is the error of a task of which nobody could look whom its table belongs to. It runs again,
// as where the server has no room for its end.
func unseen() *exec.Failure {
	return exec.NewFailure("no session could be opened to look whom the table of tasks belongs to", "53300",
		"DETAIL", "The effects of the task are rolled back.",
		"HINT", "A task of REPEATABLE READ or SERIALIZABLE that lasts for over a second needs one session more of the serving role when it ends. The log of pgtaskd says why there is none.")
}
