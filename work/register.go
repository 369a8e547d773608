package work

import (
	"context"
	"slices"

	"pgtaskd/exec/fault"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// registering is what the loop knows of its table's register of sessions.
type registering struct {
	all   enrolment // where all sessions of ours are registered
	tried enrolment // where that was tried
}

// enrolment is a register, and the control connection that has written to it.
type enrolment struct {
	register int64 // 0: none
	control  int32
}

// enlist registers the sessions that wait for it, and at once those that a new register lacks. When
// the server refuses that, their tasks wait.
func (l *loop) enlist(ctx context.Context) error {
	var asks []ask
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		switch {
		case a.kind != askSession:
			return false
		case a.pid != 0 && a.pid != l.control.Facts().PID: // for what was read before we came to lead again
			a.answer <- answer{}
		default:
			asks = append(asks, a)
		}
		return true
	})
	at := enrolment{l.control.Table().Register, l.control.Facts().PID}
	if len(asks) == 0 && l.registering.tried == at {
		return nil
	}
	l.registering.tried = at
	err := l.enter(ctx, at, asks)
	if err != nil && !fault.Of(err).OfRow() {
		l.asks = append(l.asks, asks...)
		return err
	}
	for _, a := range asks {
		a.answer <- answer{run.Answer{OK: err == nil}, err}
	}
	return nil
}

// enter writes to the register; where there is none it speaks to the server all the same. What
// comes first in a register, or on a control connection, is all sessions of ours.
func (l *loop) enter(ctx context.Context, at enrolment, asks []ask) error {
	if at.register == 0 {
		l.registering.all = at
		return l.control.Ping(ctx)
	}
	var open []pool.Backend
	if l.registering.all != at {
		open = l.runs.Pool.Backends()
	}
	for _, a := range asks {
		open = append(open, a.opened)
	}
	pids, starts := pool.Columns(open)
	if _, err := l.control.Exec(ctx, "register", pids, starts); err != nil {
		return err
	}
	l.registering.all = at
	return nil
}
