package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
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
	if l.handed || time.Since(l.surveyed) < surveyTick || !l.stats.Watched() {
		return nil
	}
	l.surveyed = time.Now()
	found, err := l.lookAtTable(ctx)
	if fault.Of(err).OfRow() || fault.Has(err, "57014") && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	if before := l.stats.Table(); before != nil {
		for _, t := range l.tasks { // a job that runs does not wait
			if key := t.Row.Key; key != nil && !before.Successes[*key].IsZero() && found.Successes[*key].IsZero() {
				found.Successes[*key] = before.Successes[*key]
			}
		}
	}
	l.stats.Sees(found)
	return nil
}

func (l *loop) lookAtTable(ctx context.Context) (found target.Survey, err error) {
	found.Successes = map[string]time.Time{}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ ONLY")
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true)", control.Milliseconds(surveyLimit))
	l.control.Queue(batch, "survey", laterMost).QueryRow(func(row pgx.Row) error {
		var due float64
		err := row.Scan(&due, &found.Later, &found.Bytes, &found.Dead)
		found.Oldest = time.Duration(min(due, 1e9) * float64(time.Second))
		return err
	})
	l.control.Queue(batch, "successes", keysMost, ownedMost).Query(func(rows pgx.Rows) error {
		var key string
		var stop time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &stop}, func() error {
			found.Successes[key] = stop
			return nil
		})
		return err
	})
	batch.Queue("COMMIT")
	err = l.control.Send(ctx, batch)
	return found, err
}
