package work

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A task that comes when there is nothing else to do is taken at once, by the statement that finds it. To look what is due, to choose and to take are two exchanges
// with the server, and where processes have slept each takes longer than what they do.

// aloneAgain is the time from a try that has found nothing to the next: each is an UPDATE, for which triggers of the user's may fire.
const aloneAgain = 100 * time.Millisecond

// expects tells whether to try to take a task alone: there is no other, that we know of, and a session lies ready. A leader that is awake looks all the time.
func (l *loop) expects(now time.Time) bool {
	return !l.awake() && l.vacant() && !l.seats.empty() && now.Sub(l.look.vain) >= aloneAgain
}

// vacant tells whether no task is known, ours or not.
func (l *loop) vacant() bool {
	busy, waiting, ready := l.lanes.load()
	return busy+waiting+ready == 0 && len(l.tasks)+len(l.orphans)+len(l.parked)+len(l.hopeless) == 0 && !l.scanning.active
}

// takeAlone takes the task that is due alone, if there is one, and starts it. If no session suits it, since settings are others than when those were opened,
// a look comes first: writes may have been switched off. A table that refuses it will refuse others, and those who take them see to that.
func (l *loop) takeAlone(ctx context.Context) (started bool, err error) {
	tasks, err := l.take(ctx, nil, 0)
	var refusal *pgconn.PgError
	switch {
	case errors.As(err, &refusal) && !l.control.conn.IsClosed(), err == nil && len(tasks) == 0:
		l.look.vain = time.Now()
		return false, nil
	case err != nil:
		return false, err
	}
	tasks[0].vague = true
	l.took(nil, tasks)
	if !l.seats.fits(tasks[0]) {
		return false, nil
	}
	l.dispatch()
	runtime.Gosched()        // the runner begins here and now, and need not wait for another thread to wake up: 0.035 ms
	l.look.scan = time.Now() // what else has come may wait for a moment
	l.vigil.found = l.look.scan
	l.unseen.next = l.look.scan.Add(checkTick / 10)
	return true, nil
}

// retake takes again what was taken alone by a statement that a server which has crashed since has forgotten, as it did not wait for the disk. What has become of
// the task is then seen to as if it had not: its end is written, or that it was cut off.
func (l *loop) retake(ctx context.Context) error {
	var vague []int64
	for id, t := range l.tasks {
		if t.vague {
			vague = append(vague, id)
		}
	}
	standings, err := l.standings(ctx, vague)
	if err != nil {
		return err
	}
	vague = slices.DeleteFunc(vague, func(id int64) bool {
		s := standings[id]
		t := l.tasks[id]
		return s.state != "PLAN" || s.attempt != t.row.Attempt-1 || !s.plan.Time.Equal(t.row.Plan) // another row may have the number by now
	})
	if len(vague) == 0 {
		return nil
	}
	tasks, err := l.take(ctx, vague, 0)
	for _, t := range tasks {
		l.tasks[t.row.ID].owner.Store(t.owner.Load())
	}
	return err
}
