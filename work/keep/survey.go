package keep

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

const (
	surveyTick  = time.Minute     // between two surveys
	surveyLimit = 5 * time.Second // for each statement
	laterMost   = 100_000         // tasks with later plans that are counted
	jobsMost    = 10_000          // repeating tasks that are read
	ownedMost   = 1_000           // jobs with an owner that are shown
)

// Survey reads the table's metrics.
type Survey struct {
	Control *control.Control
	Stats   *target.Stats

	looked time.Time
}

// Next returns the time until the next survey: one a minute while somebody reads the metrics.
func (s *Survey) Next() time.Duration {
	if !s.Stats.Watched() {
		return hold.Never
	}
	return surveyTick - time.Since(s.looked)
}

// Step reads the metrics. If the table is locked or the server is slow, the last values stay.
func (s *Survey) Step(ctx context.Context) error {
	s.looked = time.Now()
	found, err := s.look(ctx)
	if fault.Of(err).OfRow() || fault.Has(err, "57014") && ctx.Err() == nil {
		return nil
	}
	if err != nil {
		return err
	}
	s.Stats.Sees(found)
	return nil
}

func (s *Survey) look(ctx context.Context) (found target.Survey, err error) {
	found.Successes = map[string]time.Time{}
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ ONLY")
	batch.Queue("SELECT pg_catalog.set_config('statement_timeout', $1, true)", control.Milliseconds(surveyLimit))
	s.Control.Queue(batch, "survey", laterMost, jobsMost).QueryRow(func(row pgx.Row) error {
		var due float64
		err := row.Scan(&due, &found.Later, &found.Bytes, &found.Dead, &found.Paused[0], &found.Paused[1])
		found.Oldest = time.Duration(min(due, 1e9) * float64(time.Second))
		return err
	})
	s.Control.Queue(batch, "successes", jobsMost, ownedMost).Query(func(rows pgx.Rows) error {
		var key string
		var stop time.Time
		_, err := pgx.ForEachRow(rows, []any{&key, &stop}, func() error {
			if stop.After(found.Successes[key]) {
				found.Successes[key] = stop
			}
			return nil
		})
		return err
	})
	batch.Queue("COMMIT")
	err = s.Control.Send(ctx, batch)
	return found, err
}
