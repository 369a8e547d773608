package lead

import (
	"context"

	"pgtaskd/work/pool"
)

// Register registers sessions that were opened; in a new register, or on a new control session, all of
// ours. If there is no register it makes a round trip all the same; if there is nothing to do it does not.
func (l *Lead) Register(ctx context.Context, opened []pool.Backend) error {
	at := enrolment{l.Control.Table().Register, l.Control.Facts().PID}
	if len(opened) == 0 && l.tried == at {
		return nil
	}
	l.tried = at
	if at.register == 0 {
		l.enrolled = at
		return l.Control.Ping(ctx)
	}
	if l.enrolled != at {
		opened = append(l.Sessions(), opened...)
	}
	pids, starts := pool.Columns(opened)
	_, err := l.Control.Exec(ctx, "register", pids, starts)
	if err == nil {
		l.enrolled = at
	}
	return err
}
