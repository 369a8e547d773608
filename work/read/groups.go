package read

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

const (
	groupsEvery = time.Minute           // between two reads of the limits, if notifications tell of changes
	heedTick    = 20 * time.Millisecond // between two reads after notifications
	groupsRetry = time.Second           // after a read that failed: a lock, or a missing right
)

// groupsMost is the most limits that a target may have. Each takes some 400 bytes of memory.
const groupsMost = 100_000

// groupLimits bounds how long the loop waits for a lock on the table of groups.
const groupLimits = "SET LOCAL lock_timeout = '50ms'"

// Groups reads the limits of groups, which have a table of their own.
type Groups struct {
	Control *control.Control
	Table   sql.Table // of tasks
	Lanes   *lane.Lanes[*run.Task]
	Clock   *run.Clock
	Wake    *wake.Waker
	Live    *atomic.Pointer[target.Live] // its Sleep is the time between two reads if nothing tells of changes
	Scan    *Scan                        // it is told when paused tasks may start
	Changed func()                       // called when the table of groups is gone, locked, or may not be read

	known grouping
}

// grouping is the leader's knowledge of the table of groups.
type grouping struct {
	table   int64     // the table that was read; 0: there was none
	version int64     // of the limits that were read
	open    bool      // somebody was about to commit a change: tasks may be newer than the limits
	read    time.Time // when the limits were read, by our clock
	resumes time.Time // when the next pause ends, by the server's clock; zero: no pause ends by itself
	failed  time.Time // when reading failed last
}

// Next returns the time until the limits should be read again.
func (g *Groups) Next() time.Duration {
	k, table := &g.known, g.Control.Table().Group
	if table != k.table {
		return max(0, groupsRetry-time.Since(k.failed))
	}
	if table == 0 {
		return hold.Never
	}
	every := groupsEvery
	if !g.Wake.Tells() {
		every = g.Live.Load().Sleep
	}
	next := every - time.Since(k.read)
	if g.Wake.Notices.Regrouped {
		next = min(next, heedTick-time.Since(k.read))
	}
	if !k.resumes.IsZero() {
		next = min(next, g.Clock.Until(k.resumes)+ClockMargin)
	}
	return max(next, groupsRetry-time.Since(k.failed))
}

// Resumes returns the time until the next pause ends by itself.
func (g *Groups) Resumes() time.Duration {
	if g.known.resumes.IsZero() {
		return hold.Never
	}
	return g.Clock.Until(g.known.resumes)
}

// Step reads the limits of groups and applies them. A term begins with this: a new leader must not
// start tasks that the limits forbid. After the end of a pause, Resumed asks for a full scan.
func (g *Groups) Step(ctx context.Context) error {
	g.Wake.Notices.Regrouped = false
	found := grouping{table: g.Control.Table().Group, read: time.Now()}
	var limits []lane.Limit
	if found.table != 0 {
		var err error
		limits, err = g.query(ctx, &found)
		switch {
		case fault.IsAnswer(err) && fault.Has(err, "55P03") && g.known.table == found.table,
			fault.IsAnswer(err) && fault.Has(err, "42P01", "42501", "22012", "42704"):
			g.known.failed, g.known.table = time.Now(), found.table // keep the known limits
			g.Changed()
			return nil
		case err != nil:
			return err
		}
	}
	over := !g.known.resumes.IsZero() && g.Clock.Until(g.known.resumes) <= 0
	g.known = found
	var resumed bool
	if resumed, g.known.resumes = g.Lanes.Limit(limits); resumed || over {
		g.Scan.Resumed()
	}
	return nil
}

// refresh reads the limits before tasks are given up: a task may be newer than the known limits.
// known is false if reading has failed within the last second.
func (g *Groups) refresh(ctx context.Context) (known bool, err error) {
	if g.Control.Table().Group == 0 {
		return true, nil
	}
	err = g.Step(ctx)
	return time.Since(g.known.failed) >= groupsRetry, err
}

// Clear forgets the limits. Call it when a term begins or ends.
func (g *Groups) Clear() { g.known = grouping{} }

func (g *Groups) query(ctx context.Context, found *grouping) (limits []lane.Limit, err error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue(groupLimits)
	g.Control.Queue(batch, "grouped").QueryRow(func(row pgx.Row) error {
		calm := false
		err := row.Scan(&found.version, &calm)
		found.open = !calm
		return err
	})
	g.Control.Queue(batch, "groups", groupsMost+1).Query(func(rows pgx.Rows) error {
		limits, err = pgx.CollectRows(rows, limitOf)
		return err
	})
	batch.Queue("COMMIT")
	if err := g.Control.Send(ctx, batch); err != nil {
		return nil, err
	}
	if len(limits) > groupsMost {
		const tooMany = "table %s has more than %d rows: no task starts until some are deleted"
		return nil, fmt.Errorf(tooMany, sql.Beside(g.Table, "group"), groupsMost)
	}
	return limits, nil
}

func limitOf(row pgx.CollectableRow) (limit lane.Limit, err error) {
	var until pgtype.Timestamptz
	var per int64
	err = row.Scan(&limit.Group, &limit.Prefix, &limit.Paused, &until, &limit.Slots, &limit.Rate, &per)
	limit.Until, limit.Per = until.Time, micros(per)
	return limit, err
}

// outlives tells whether a task is still worth running after its active has passed: its group is
// paused, or active counts from the end of the pause.
func (g *Groups) outlives(group string, active time.Duration) bool {
	paused, ended := g.Lanes.Limits.Paused(group)
	return paused || !ended.IsZero() && g.Clock.Now().Before(ended.Add(active))
}

// expiry returns when a prefetched task is no longer worth running. A task of a paused group does
// not expire (zero). After a pause, active counts from the end of the pause.
func (g *Groups) expiry(group string, active time.Duration, expires time.Time) time.Time {
	paused, ended := g.Lanes.Limits.Paused(group)
	switch {
	case paused:
		return time.Time{}
	case !ended.IsZero() && expires.Before(ended.Add(active)):
		return ended.Add(active)
	}
	return expires
}
