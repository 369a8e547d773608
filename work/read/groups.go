package read

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/wake"
)

const (
	groupsEvery = 30 * time.Second      // between two looks at the table of groups, where we are told of its changes
	heedTick    = 20 * time.Millisecond // between two looks for which somebody notifies us
	groupsRetry = time.Second           // after a look that somebody's lock, or a right that was taken away, has kept us from
)

// groupsMost is how many limits a target has at most, each of which takes up some 400 bytes.
const groupsMost = 100_000

// groupLimits keep the loop from waiting for somebody who has locked the table of groups.
const groupLimits = "SET LOCAL lock_timeout = '50ms'"

// Groups knows the limits of groups, which stand in a table of their own.
type Groups struct {
	Control *control.Control
	Table   sql.Table // of tasks
	Lanes   *lane.Lanes[*run.Task]
	Clock   *run.Clock
	Notices *wake.Notices
	Every   func() time.Duration // between two looks if nothing tells of changes
	Tells   func() bool          // something does
	Resumed func()               // called when tasks that a pause has held back may start
	Changed func()               // called when the table of groups is gone, or may not be read

	known grouping
}

// grouping is what the leader knows of the table of groups.
type grouping struct {
	table   int64     // the one that was read; 0: there was none
	version int64     // of what was read
	open    bool      // a change was about to be committed then: tasks may be newer than the limits
	read    time.Time // when, by our clock
	resumes time.Time // when the next pause ends, by the server's clock; zero: none does by itself
	failed  time.Time // when that could not be done
}

// Next is when the limits of groups are to be read, as they may have changed.
func (g *Groups) Next() time.Duration {
	k, table := &g.known, g.Control.Table().Group
	if table != k.table {
		return max(0, groupsRetry-time.Since(k.failed))
	}
	if table == 0 {
		return hold.Never
	}
	every := groupsEvery
	if !g.Tells() {
		every = g.Every()
	}
	next := every - time.Since(k.read)
	if g.Notices.Regrouped {
		next = min(next, heedTick-time.Since(k.read))
	}
	if !k.resumes.IsZero() {
		next = min(next, g.Clock.Until(k.resumes)+ClockMargin)
	}
	return max(next, groupsRetry-time.Since(k.failed))
}

// Step reads the limits of groups, which hold from then on. A term begins with that: a new leader must
// not start what they forbid. When a pause has ended, the tasks that it has held back are looked for.
func (g *Groups) Step(ctx context.Context) error {
	g.Notices.Regrouped = false
	found := grouping{table: g.Control.Table().Group, read: time.Now()}
	var limits []lane.Limit
	if found.table != 0 {
		var err error
		limits, err = g.query(ctx, &found)
		switch {
		case fault.IsAnswer(err) && fault.Has(err, "55P03") && g.known.table == found.table,
			fault.IsAnswer(err) && fault.Has(err, "42P01", "42501", "22012", "42704"):
			g.known.failed, g.known.table = time.Now(), found.table // gone or locked: the known limits hold
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
		g.Resumed()
	}
	return nil
}

// refresh reads them before tasks are given up that may be newer; known is false if it cannot now.
func (g *Groups) refresh(ctx context.Context) (known bool, err error) {
	if g.Control.Table().Group == 0 {
		return true, nil
	}
	err = g.Step(ctx)
	return time.Since(g.known.failed) >= groupsRetry, err
}

// Clear forgets them: a term begins, or has ended.
func (g *Groups) Clear() { g.known = grouping{} }

// query reads the table of groups.
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

// limitOf reads a row of the table of groups.
func limitOf(row pgx.CollectableRow) (limit lane.Limit, err error) {
	var until pgtype.Timestamptz
	var per int64
	err = row.Scan(&limit.Group, &limit.Prefix, &limit.Paused, &until, &limit.Slots, &limit.Rate, &per)
	limit.Until, limit.Per = until.Time, micros(per)
	return limit, err
}

// outlives tells whether a task is worth running though its active has passed: its group is paused,
// or the end of that counts as its plan.
func (g *Groups) outlives(group string, active time.Duration) bool {
	paused, ended := g.Lanes.Limits.Paused(group)
	return paused || !ended.IsZero() && g.Clock.Now().Before(ended.Add(active))
}

// expiry is when a task that was read is not worth running any more: its group may be paused, or the
// end of that counts as its plan. Zero: it is always worth it.
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
