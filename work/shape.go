package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
)

// shape looks from time to time at the table, and tells the rooms that have to know what it is
// like.
type shape struct {
	*shared
	seen time.Time // when it was looked at
}

// columnsTick is the shortest time between two looks at the columns by a leader that looks all the
// time: they cost more than looking whether anything is due.
const columnsTick = 50 * time.Millisecond

// forget has the table looked at soon.
func (s *shape) forget() { s.seen = time.Time{} }

// queue asks, from time to time, what the table is like: that costs more than other questions.
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

// install has the table completed and looked at, takes up what it is like, and listens.
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

// silence is how long the control session may still be silent, or say nothing of the table.
func (s *shape) silence() time.Duration { return time.Until(s.speaks()) }

// speaks is when the control session has to look at the table next, whatever else it says. The beats of
// all targets fall together, as far as a beatGrid allows: processes that wake up hundreds of times a
// second cost more than what they do then.
func (s *shape) speaks() time.Time {
	return birth.Add(s.seen.Add(beat).Sub(birth).Truncate(beatGrid))
}

const (
	beat     = 4 * time.Second // the longest silence of the control session
	beatGrid = time.Second     // how much sooner it may speak, so that the beats of all targets fall together
)

// birth is where the grid begins. It has a monotonic reading, which nobody can set.
var birth = time.Now()
