package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/sql"
)

// takenTries is how often a transaction of ours draws ids until the next round.
const takenTries = 6

// drawing does in a transaction what may draw ids. Where one is taken, all of it is done again.
func (l *loop) drawing(ctx context.Context, do func() error) (err error) {
	for range takenTries {
		leap := l.Leap.Most()
		err = do()
		var answer *pgconn.PgError
		if !errors.As(err, &answer) {
			return err
		}
		taken, failed := l.isTaken(ctx, exec.TakenOf(answer.Code, answer.Routine, answer.Where, answer.ConstraintName), leap)
		if failed != nil {
			return failed
		}
		if !taken {
			return err
		}
	}
	return err
}

// isTaken tells whether it was an id which a row of ours met in an index, that somebody has taken by
// hand: what draws one next passes over more. Who may have the transaction open is logged, once in
// a while.
func (l *loop) isTaken(ctx context.Context, met *exec.Taken, leap int64) (taken bool, err error) {
	if met == nil || l.control.table.Sequence == 0 {
		return false, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	if err := l.control.conn.QueryRow(ctx, l.queries().Text("taken"), met.Constraint, met.Where).Scan(&taken); err != nil || !taken {
		return false, err
	}
	if l.Leap.Met(leap); met.Where == "" || time.Since(l.idsTold) < lockedAgain {
		return true, nil
	}
	l.idsTold = time.Now()
	writers, err := sql.Holders(ctx, l.control.conn, table(l.target), true)
	if err != nil && !refusedByServer(err) {
		return true, err
	}
	line := l.log.Warn()
	if len(writers) > 0 {
		line = line.Strs("open", writers)
	}
	line.Msg("an open transaction has inserted ids that come next; passing over some")
	return true, nil
}

// areTaken tells the same of each of the ends.
func (l *loop) areTaken(ctx context.Context, ends []end) (taken []bool, err error) {
	taken = make([]bool, len(ends))
	for i, e := range ends {
		if taken[i], err = l.isTaken(ctx, e.Taken, e.Leap); err != nil {
			return nil, err
		}
	}
	return taken, nil
}
