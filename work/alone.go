package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A task that comes when there is nothing else to do is taken at once, by the statement that finds it. To look what is due, to choose and to take are two exchanges
// with the server, and where processes have slept each takes longer than what they do.

// vacant tells whether there is nothing else: no task that we know of, ours or not.
func (l *loop) vacant() bool {
	busy, waiting, ready := l.lanes.load()
	return busy+waiting+ready == 0 && len(l.tasks)+len(l.orphans)+len(l.parked)+len(l.hopeless) == 0 && !l.scanning.active
}

// takeAlone takes the task that is due alone, if there is one, and starts it, if what a look would find out cannot matter to it: a repetition would have the
// table's new columns, and where there is no session for it, or settings are others than when that was opened, writes may have been switched off. A table that
// refuses it will refuse others, and those who take them see to that.
func (l *loop) takeAlone(ctx context.Context) (started bool, err error) {
	tasks, err := l.take(ctx, nil, 0)
	var refusal *pgconn.PgError
	switch {
	case errors.As(err, &refusal) && !l.control.conn.IsClosed():
		return false, nil
	case err != nil || len(tasks) == 0:
		return false, err
	}
	l.took(nil, tasks)
	if t := tasks[0]; !t.row.Single || !l.seats.fits(t) {
		return false, nil
	}
	l.dispatch()
	l.look.scan = time.Now() // what else has come may wait for a moment
	return true, nil
}
