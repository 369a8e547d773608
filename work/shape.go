package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/control"
	"pgtaskd/work/hold"
)

// shape looks at the table from time to time, and tells other rooms how it has changed.
type shape struct {
	*shared
	seen  time.Time // when the table was last looked at
	spoke time.Time // when the control session last spoke, as far as silence must know
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
	s.seen = time.Now()
	s.spoke = s.seen
	if columns != nil {
		s.table.Sees(*columns)
	}
	return nil
}

// beat breaks the silence of the control session, at no cost: the server may sleep.
func (s *shape) beat(ctx context.Context) error {
	s.spoke = time.Now()
	return s.control.Ping(ctx)
}

// install completes the table, passes on what it has found, and listens.
func (s *shape) install(ctx context.Context) error {
	found, err := s.table.Look(ctx)
	if err != nil {
		return err
	}
	s.control.Describe(found.Table)
	s.leads.At(found.Place)
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

// silence is how long the control session may stay silent; age is the time until the next look at
// the table, while there are tasks.
func (s *shape) silence() time.Duration { return time.Until(beatAfter(s.spoke)) }
func (s *shape) age() time.Duration     { return time.Until(beatAfter(s.seen)) }

// beatAfter is a beat later, or a little less. The beats of all targets coincide, as far as a
// beatGrid allows: a process that wakes up hundreds of times a second costs more than its work.
func beatAfter(last time.Time) time.Time {
	return birth.Add(last.Add(beat).Sub(birth).Truncate(beatGrid))
}

const (
	beat     = 4 * time.Second // the longest silence of the control session
	beatGrid = time.Second     // how much earlier it may speak, so that all targets speak together
)

// birth is the start of the grid. Its monotonic clock reading cannot be set by anyone.
var birth = time.Now()

// comesNext reads the server's clock, the earliest plan to come and the table's columns.
func (l *leader) comesNext(ctx context.Context) error {
	batch := &pgx.Batch{}
	l.scan.QueueNext(batch)
	if err := l.control.Send(ctx, batch); err != nil {
		return err
	}
	return l.redescribe(ctx)
}

// brisk is how long after the last task comesNext still comes with each beat. Later only scans do
// the same: the database may sleep.
const brisk = 15 * time.Second

func (l *leader) nextComesNext() time.Duration {
	if l.working() || l.busy() {
		l.worked = time.Now()
	}
	if time.Since(l.worked) > brisk {
		return hold.Never
	}
	return l.shape.age()
}

// redescribe looks at the table again when it has changed: a repetition copies all columns, and
// somebody may have dropped objects that we need.
func (l *leader) redescribe(ctx context.Context) error {
	if !l.table.Changed() {
		return nil
	}
	if err := l.shape.install(ctx); err != nil {
		return err
	}
	l.scan.All() // notifications of new tasks may have been missed meanwhile
	l.leads.Renew()
	return nil
}
