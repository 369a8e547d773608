package run

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/work/pool"
)

// sit finds a session for the task, or opens one; nil when the task's end, without a start, has
// been told to the loop. One that is cancelled meanwhile, or in a drain, has not begun.
func (r *runner) sit(ctx context.Context, t *Task) *pool.Session {
	s := r.Pool.Take(ctx, t.need(), r.Limits.Load().Run)
	if s != nil {
		return r.starts(s, t)
	}
	opening, giveUp := context.WithCancel(ctx)
	defer giveUp()
	if t.opens(giveUp) {
		giveUp()
	}
	if r.Lanes.IsClosed() { // else the drain will
		t.Withdraw()
	}
	s, e := r.open(opening, t)
	cancelled := t.opens(nil)
	if s != nil && !cancelled {
		return r.starts(s, t)
	}
	if s != nil {
		r.Pool.Put(s)
	}
	if cancelled {
		e = Outcome{Task: t, Kind: Released, Stop: r.Clock.Now()}
		if t.cancelled() == exec.Stopped {
			e.Kind = Stopped
		}
	}
	r.note(e)
	return nil
}

// starts gives the session back where the task was to try its remote, and run others are at work: it
// has not begun, and waits as others do.
func (r *runner) starts(s *pool.Session, t *Task) *pool.Session {
	if r.Lanes.Opened(t) {
		return s
	}
	r.Pool.Put(s)
	r.note(Outcome{Task: t, Kind: Released, Stop: r.Clock.Now()})
	return nil
}

// open opens a session for the task, or says what follows for it: nothing where it is cancelled.
func (r *runner) open(ctx context.Context, t *Task) (*pool.Session, Outcome) {
	began := time.Now()
	s, err := r.Pool.Open(ctx, t.need(), r.Limits.Load().Run)
	if err == nil {
		return s, Outcome{}
	}
	if t.cancelled() != exec.NotCancelled {
		return nil, Outcome{}
	}
	e := Outcome{Task: t, Kind: Released, Stop: r.Clock.Now(), Fault: r.unreachable(ctx, t, began, err)}
	e.Delay = r.Pool.Delay(t.need())
	switch {
	case pool.Final(err):
		e.Kind, e.Result = Finished, &exec.Result{Failure: e.Fault}
	case t.need().Place() == t.Row.Remote && !errors.As(err, new(*pgconn.PgError)): // no server has answered
		for _, other := range r.Lanes.Shut(t, r.Clock.Now().Add(e.Delay)) {
			r.tell(Outcome{Task: other, Kind: Released, Stop: e.Stop, Fault: e.Fault, Delay: e.Delay})
		}
	}
	return nil, e
}
