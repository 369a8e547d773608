package work

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
)

// A task that comes when there is nothing else to do is read by the statement that finds it. To
// look what is due, to choose and to read are two exchanges with the server, and where processes
// have slept each takes longer than what they do.

// expects tells whether to try to read a task alone: there is no other, that we know of, and a
// session lies ready. A leader that is awake looks all the time.
func (l *loop) expects() bool { return !l.wake.Awake() && l.vacant() && !l.runs.Pool.Empty() }

// vacant tells whether no task is known, ours or not.
func (l *loop) vacant() bool {
	busy, waiting, ready := l.runs.Lanes.Load()
	return busy+waiting+ready == 0 && len(l.tasks)+l.judge.Orphans.Len()+l.holds.Len() == 0 && !l.scanning.active
}

// readAlone reads the task that is due alone, if there is one, and starts it. If no session suits
// it, since settings are others than when those were opened, a look comes first: writes may have
// been switched off. A table that refuses it will refuse others, and those who read them see to
// that.
func (l *loop) readAlone(ctx context.Context) (started bool, err error) {
	asked := l.runs.Clock.Now()
	tasks, err := l.read(ctx, nil)
	var refusal *pgconn.PgError
	switch {
	case (errors.As(err, &refusal) || fault.Of(err).OfRow()) && l.control.Opened(), err == nil && len(tasks) == 0:
		return false, nil
	case err != nil:
		return false, err
	}
	l.look.low = asked
	l.took(nil, tasks)
	if !l.runs.Fits(tasks[0]) {
		return false, nil
	}
	l.runs.Dispatch()
	runtime.Gosched()        // the runner begins here and now, and need not wait for another thread to wake up: 0.035 ms
	l.look.scan = time.Now() // what else has come may wait for a moment
	l.wake.Found(l.look.scan)
	l.wake.LookLater(l.look.scan)
	return true, nil
}
