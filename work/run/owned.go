package run

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
)

// lookLimit bounds how long the end of a run waits for the look at who owns the table.
const lookLimit = 10 * time.Second

// stillOwned tells whether the end that is pending may be written to the table, as it is now. Where
// the transaction of the run sees it as it was long ago, another session looks: one of its own, since
// the leader's may wait for a lock that the run has, and a run goes on while another controller leads.
func (r *runner) stillOwned() bool {
	ctx, cancel := context.WithTimeout(r.Group.Context(), lookLimit)
	defer cancel()
	dated, err := r.session.Dated(ctx)
	if err != nil || !dated {
		return true // what is wrong with the session, or the transaction, the end meets as well
	}
	r.post()
	cfg, err := r.Pool.Own(ctx, pool.Need{})
	if err != nil {
		return false
	}
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, r.Queries.Load().Text("masters")).ReadAll()
	return err == nil
}

// giveBack rolls back the run whose end is pending.
func (r *runner) giveBack() {
	p := r.before
	r.before = nil
	r.note(Outcome{
		Task: p.task, Kind: Refused, PID: int32(r.session.PID), Since: r.session.Since, Start: p.start, Stop: p.result.Stop,
		Result: p.result, Heavy: p.heavy, Fault: givenAway(), Delay: time.Millisecond,
	})
	r.leave()
}

// givenAway is the error of a task in whose table others' triggers may have come to run.
func givenAway() *exec.Failure {
	return exec.NewFailure("the table of tasks, or a part of it, was given to another owner while the task ran", "55000",
		"DETAIL", "The effects of the task are rolled back.", "HINT", "The log of pgtaskd says what it serves, and whom it trusts.")
}
