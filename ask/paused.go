package ask

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// PausedJob is a job that makes no runs until somebody resumes it.
type PausedJob struct {
	ID       int64  `json:"id"` // of its paused task
	Key      string `json:"key,omitempty"`
	Failures int64  `json:"failures,omitempty"` // in a row, for which max_failures has paused it
}

// pausedMost is how many paused jobs a status shows.
const pausedMost = 20

func (p PausedJob) String() string {
	job, why := cmp.Or(p.Key, "without a key"), ""
	if p.Failures > 0 {
		why = fmt.Sprintf(" after %d failures in a row", p.Failures)
	}
	return fmt.Sprintf("job %s is paused%s; pgtaskd act resume %d lets it go on", job, why, p.ID)
}

// paused reads the paused jobs.
func (b *table) paused(ctx context.Context) ([]PausedJob, error) {
	found, err := b.conn.Query(ctx, b.queries.Text("paused"), lookedAt, pausedMost)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[PausedJob])
}
