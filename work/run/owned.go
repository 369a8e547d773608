package run

import (
	"time"

	"pgtaskd/exec"
)

// stillOwned tells whether the end that is pending may be written to the table, as it is now. A
// transaction that sees it as it was long ago cannot tell, so the leader does.
func (r *runner) stillOwned() bool {
	dated, err := r.session.Dated(r.Group.Context())
	if err != nil || !dated {
		return true // what is wrong with the session, or the transaction, the end meets as well
	}
	r.post()
	return r.Leader.Owned(r.Group.Context())
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
