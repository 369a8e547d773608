package lead

import (
	"context"

	"pgtaskd/work/pool"
)

// Register registers sessions that were opened, and at once those that a new register lacks. Where
// there is no register it speaks to the server all the same; where there is nothing to do it does not.
// What comes first in a register, or on a control session, is all sessions of ours.
func (l *Lead) Register(ctx context.Context, opened []pool.Backend) error {
	r, at := &l.register, enrolment{l.Control.Table().Register, l.Control.Facts().PID}
	if len(opened) == 0 && r.tried == at {
		return nil
	}
	r.tried = at
	if at.register == 0 {
		r.all = at
		return l.Control.Ping(ctx)
	}
	if r.all != at {
		opened = append(l.Sessions(), opened...)
	}
	pids, starts := pool.Columns(opened)
	_, err := l.Control.Exec(ctx, "register", pids, starts)
	if err == nil {
		r.all = at
	}
	return err
}
