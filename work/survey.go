package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// What a look at the table for the metrics takes at most.
const (
	surveyTick  = time.Minute
	surveyLimit = 5 * time.Second
	laterMost   = 100_000 // tasks for later that are counted
	keysMost    = 10_000  // keys that are looked at
	ownedMost   = 1_000   // jobs with an owner that are shown
)

// survey looks at the table, once a minute while somebody reads the metrics. What it cannot see,
// because the table is locked or the server is slow, it does not show.
func (l *loop) survey(ctx context.Context) error {
	if l.handed || time.Since(l.surveyed) < surveyTick || !l.stats.watched() {
		return nil
	}
	l.surveyed = time.Now()
	found, err := l.lookAtTable(ctx)
	if refusedByServer(err) || hasState(err, "57014") && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if before := l.stats.table.Load(); before != nil {
		for _, t := range l.tasks { // a job that runs does not wait
			if key := t.Row.Key; key != nil && !before.Successes[*key].IsZero() && found.Successes[*key].IsZero() {
				found.Successes[*key] = before.Successes[*key]
			}
		}
	}
	l.stats.Sees(found)
	return nil
}

func (l *loop) lookAtTable(ctx context.Context) (found Survey, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	found.Successes = map[string]time.Time{}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ ONLY")
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true)", milliseconds(surveyLimit))
	batch.Queue(l.queries().Text("survey"), l.target.Schema, l.target.Table, laterMost).QueryRow(func(row pgx.Row) error {
		var due float64
		err := row.Scan(&due, &found.Later, &found.Bytes, &found.Dead)
		found.Oldest = time.Duration(min(due, 1e9) * float64(time.Second))
		return err
	})
	batch.Queue(l.queries().Text("successes"), keysMost, ownedMost).Query(func(rows pgx.Rows) error {
		var key string
		var stop time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &stop}, func() error {
			found.Successes[key] = stop
			return nil
		})
		return err
	})
	batch.Queue("COMMIT")
	if err = l.send(ctx, batch); err == nil {
		l.look.spoke = time.Now()
	}
	return found, err
}

// The size of a history of which nothing is deleted.
const (
	historyMost   = 1_000_000 // ended tasks; more are worth a word
	historyPages  = 200       // that are looked at
	historyTick   = time.Hour
	historyTold   = 24 * time.Hour
	historyBegins = 5 * time.Second // after a term begins, which has better things to do
)

// weighed says when the history is looked at next, and when its size was logged.
type weighed struct {
	next, told time.Time
	most       int64 // ended tasks; more are worth a word
}

func (l *loop) nextWeigh() time.Duration {
	if len(l.live.Load().Keep) > 0 || l.handed || !l.draining.IsZero() {
		return never
	}
	if l.weighed.next.IsZero() {
		l.weighed.next = time.Now().Add(historyBegins)
	}
	return time.Until(l.weighed.next)
}

// weigh warns, once a day, of a history that nothing makes smaller.
func (l *loop) weigh(ctx context.Context) error {
	if l.nextWeigh() > 0 {
		return nil
	}
	l.weighed.next = time.Now().Add(historyTick)
	ended, err := about(ctx, l.control.conn, l.queries(), l.target)
	if isAnswer(err) {
		l.undo(ctx)
		return nil
	}
	if err == nil && ended > l.weighed.most && time.Since(l.weighed.told) >= historyTold {
		l.weighed.told = time.Now()
		l.log.Warn().Int64("ended", ended).Msg("the table keeps over a million tasks that have ended; \"keep\" of the target says how long it does")
	}
	return err
}

// history says the same in a report.
func (r *Report) history(ctx context.Context, conn *pgx.Conn, q sql.Queries, t Target) {
	if len(t.Keep) > 0 {
		return
	}
	if ended, err := about(ctx, conn, q, t); err == nil && ended > historyMost {
		r.say("%s", fmt.Sprintf("has about %d tasks that have ended, and no \"keep\", which says how long they are kept", ended))
	}
}

// about is how many tasks have ended, as a sample of the table's pages tells.
func about(ctx context.Context, conn *pgx.Conn, q sql.Queries, t Target) (ended int64, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	var pages int64
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('lock_timeout', '50ms', true)", milliseconds(oldLimit)); err != nil {
			return err
		}
		if err := tx.QueryRow(ctx, q.Text("extent"), t.Schema, t.Table).Scan(&pages); err != nil {
			return err
		}
		return tx.QueryRow(ctx, q.Text("ended"), max(1, (pages+historyPages-1)/historyPages), pages).Scan(&ended)
	})
	return ended, err
}
