package run

import (
	"errors"

	"pgtaskd/exec"
	"pgtaskd/routine"
)

// internal is what the row of a task shows that has made us panic where there is nobody else to
// tell.
func internal() *exec.Failure {
	return exec.NewFailure("the task could not be run", "XX000", "DETAIL", "pgtaskd met an internal error; its log has the details.")
}

// confess logs a panic that an attempt to connect has brought about: it says nothing of ourselves.
func (r *runner) confess(t *Task, err error) {
	var p *routine.Panic
	if errors.As(err, &p) {
		r.Failed(err).Int64("id", t.Row.ID).Msg("internal error while opening a session for a task")
	}
}

// watched does something for the task that the runner is at. When that panics, the task is taken
// for the cause; the panic goes on, and ends the leadership.
func (r *runner) watched(do func()) {
	whole := false
	defer func() {
		if whole {
			return
		}
		if r.at != nil {
			r.Blame(r.at.Row.ID)
		}
		if r.session != nil {
			r.session.Abandon()
			r.session.Close()
		}
	}()
	do()
	whole = true
}
