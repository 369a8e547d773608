package work

import (
	"context"
	"slices"
	"time"

	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// registering is what the loop knows of its table's register of sessions.
type registering struct {
	all   enrolment // where all sessions of ours are registered
	tried enrolment // where that was tried
	swept time.Time // when it was last looked for what is gone, by our clock
}

// enrolment is a register, and the control connection that has written to it.
type enrolment struct {
	register int64 // 0: none
	control  int32
}

// registerTick is the time between two looks for sessions that are gone and that nobody has taken
// out of the register: those of an earlier leader.
const registerTick = time.Minute

// enlist registers the sessions that wait for it, and at once those that a new register lacks. When
// the server refuses that, their tasks wait.
func (l *loop) enlist(ctx context.Context) error {
	var asks []ask
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		if a.kind == askSession {
			asks = append(asks, a)
		}
		return a.kind == askSession
	})
	at := enrolment{l.control.table.Register, l.control.pid}
	if len(asks) == 0 && l.registering.tried == at {
		return nil
	}
	l.registering.tried = at
	ctx, cancel := limited(ctx)
	defer cancel()
	ended := l.Pool.TakeEnded()
	err := l.enter(ctx, at, asks, ended)
	if err != nil && !refusedByServer(err) {
		l.asks = append(l.asks, asks...)
		return err
	}
	for _, a := range asks {
		a.answer <- answer{run.Answer{OK: err == nil}, err}
	}
	if err != nil {
		return nil
	}
	l.look.spoke = time.Now()
	return l.purge(ctx)
}

// enter writes to the register; where there is none it speaks to the server all the same. What
// comes first in a register, or on a control connection, is all sessions of ours.
func (l *loop) enter(ctx context.Context, at enrolment, asks []ask, ended []pool.Backend) error {
	if at.register == 0 {
		l.registering.all = at
		return l.control.conn.Ping(ctx)
	}
	var open []pool.Backend
	if l.registering.all != at {
		open, l.registering.swept = l.Pool.Backends(), time.Time{}
	}
	for _, a := range asks {
		open = append(open, a.opened)
	}
	pids, starts := columnsOf(open)
	goners, began := columnsOf(ended)
	if err := l.writeBeside(ctx, "register", pids, starts, goners, began); err != nil {
		l.registering.swept = time.Time{} // which finds those that have ended
		return err
	}
	l.registering.all = at
	return nil
}

// purge takes out of the register what is gone, from time to time: what an earlier leader had
// opened.
func (l *loop) purge(ctx context.Context) error {
	if l.registering.all.register == 0 || time.Since(l.registering.swept) < registerTick {
		return nil
	}
	err := l.writeBeside(ctx, "unregister")
	if err != nil && !refusedByServer(err) {
		return err
	}
	l.registering.swept = time.Now()
	return nil
}

// writeBeside writes to a table beside the one that is served.
func (l *loop) writeBeside(ctx context.Context, query string, args ...any) error {
	_, err := l.control.conn.Exec(ctx, l.queries().Text(query), args...)
	return err
}

func columnsOf(backends []pool.Backend) (pids []int32, starts []time.Time) {
	pids, starts = make([]int32, len(backends)), make([]time.Time, len(backends))
	for i, b := range backends {
		pids[i], starts[i] = b.PID, b.Since
	}
	return pids, starts
}
