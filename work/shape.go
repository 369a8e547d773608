package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
)

// shape looks at the table from time to time, and tells other rooms how it has changed.
type shape struct {
	*shared
	seen time.Time // when the table was last looked at
}

// columnsTick is the shortest time between two looks at the columns while the leader is awake: a
// look costs more than a scan for due tasks.
const columnsTick = 50 * time.Millisecond

// forget makes the leader look at the table soon.
func (s *shape) forget() { s.seen = time.Time{} }

// queue asks about the columns of the table, but not each time: this query costs more than others.
func (s *shape) queue(batch *pgx.Batch) {
	if !s.wake.Awake() || time.Since(s.seen) >= columnsTick {
		s.control.Queue(batch, "columns", s.target.Schema, s.target.Table).QueryRow(s.read)
	}
}

func (s *shape) read(row pgx.Row) error {
	var readOnly, foreign bool
	var queue float64
	var columns *string
	if err := row.Scan(&columns, &readOnly, &foreign, &queue); err != nil {
		return err
	}
	s.wake.QueueIs(queue)
	s.runs.Foreign.Store(foreign)
	if readOnly {
		return control.ErrReadOnly
	}
	if s.seen = time.Now(); columns != nil {
		s.table.Sees(*columns)
	}
	return nil
}

// install completes the table, passes on what it has found, and listens.
func (s *shape) install(ctx context.Context) error {
	found, err := s.table.Look(ctx)
	if err != nil {
		return err
	}
	s.control.Describe(found.Table)
	s.ledger.Follow(found.Path)
	path := "pg_catalog, pg_temp"
	if found.Path != nil {
		path = *found.Path
	}
	if err := s.control.Follow(ctx, path); err != nil {
		return err
	}
	return s.wake.Adopt(ctx, found.Way, found.Table.Waking)
}

// silence is how long the control session may stay silent, or not look at the table.
func (s *shape) silence() time.Duration { return time.Until(s.speaks()) }

// speaks is when the control session has to look at the table next. The times of all targets
// coincide, as far as a beatGrid allows: a process that wakes up hundreds of times a second costs
// more than its work.
func (s *shape) speaks() time.Time {
	return birth.Add(s.seen.Add(beat).Sub(birth).Truncate(beatGrid))
}

const (
	beat     = 4 * time.Second // the longest silence of the control session
	beatGrid = time.Second     // how much earlier it may speak, so that all targets speak together
)

// birth is the start of the grid. Its monotonic clock reading cannot be set by anyone.
var birth = time.Now()
