package work

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/sql"
	"pgtaskd/work/run"
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
		met := exec.TakenOf(answer.Code, answer.Routine, answer.Where, answer.ConstraintName)
		taken, failed := l.isTaken(ctx, met, leap)
		if failed != nil {
			return failed
		}
		if !taken || met.Many { // that took its time: others come first
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
	if met.Many {
		if time.Since(l.idsTold) >= lockedAgain {
			l.idsTold = time.Now()
			l.log.Warn().Msg("very many ids that come next are taken; passing over them")
		}
		return true, nil
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

// areTaken tells the same of each of the ends; crowded: and that those which come next still are,
// for one of them, after some were passed over.
func (l *loop) areTaken(ctx context.Context, ends []end) (taken []bool, crowded bool, err error) {
	taken, many := make([]bool, len(ends)), false
	for i, e := range ends {
		if taken[i], err = l.isTaken(ctx, e.Taken, e.Leap); err != nil {
			return nil, false, err
		}
		many = many || taken[i] && e.Taken.Many
	}
	if many {
		crowded, err = l.passOver(ctx)
	}
	return taken, crowded, err
}

// drawsAgain has the task of a refused end run again, once that is not in vain.
func (l *loop) drawsAgain(e *end, crowded bool) {
	if crowded && e.Taken.Many {
		l.relieve(e)
		e.later()
		return
	}
	id := e.task.Row.ID
	l.reruns[id] = l.reruns[id].meetsTaken()
	e.kind, e.delay = run.Released, time.Millisecond+rand.N(10*time.Millisecond)
}

// passOver goes on to the next id that is free, or over so many that the target can wait for it;
// crowded: there may be more.
func (l *loop) passOver(ctx context.Context) (crowded bool, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	_, err = l.control.conn.Exec(ctx, l.queries().Text("pass"))
	if refusedByServer(err) {
		return areMany(err), nil // what else is wrong the next end will meet
	}
	return false, err
}

// areMany tells the error of a draw that has met nothing but ids that are taken.
func areMany(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && dividedBy(answer, exec.ManyTaken)
}
