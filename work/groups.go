package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
)

const (
	groupsEvery = 30 * time.Second // between two looks at the table of groups, where we are told of its changes
	groupsRetry = time.Second      // after a look that somebody's lock, or a right that was taken away, has kept us from
)

// groupsMost is how many limits a target has at most, each of which takes up some 400 bytes.
const groupsMost = 100_000

// groupLimits keep the loop from waiting for somebody who has locked the table of groups.
const groupLimits = "SET LOCAL lock_timeout = '50ms'"

// grouping is what the leader knows of the table of groups.
type grouping struct {
	table   int64     // the one that was read; 0: there was none
	version int64     // of what was read
	open    bool      // a change was about to be committed then: what is read of tasks may be newer than the limits
	read    time.Time // when, by our clock
	resumes time.Time // when the next pause ends, by the server's clock; zero: none does by itself
	failed  time.Time // when that could not be done
}

// nextRegroup is when the limits of groups are to be read, as they may have changed.
func (l *loop) nextRegroup() time.Duration {
	g, table := &l.grouping, l.control.Table().Group
	if table != g.table {
		return max(0, groupsRetry-time.Since(g.failed))
	}
	if table == 0 {
		return never
	}
	every := groupsEvery
	if !l.wake.Tells() {
		every = l.live.Load().Sleep
	}
	next := every - time.Since(g.read)
	if l.notices.Regrouped {
		next = min(next, checkTick-time.Since(g.read))
	}
	if !g.resumes.IsZero() {
		next = min(next, l.runs.Clock.Until(g.resumes)+clockMargin)
	}
	return max(next, groupsRetry-time.Since(g.failed))
}

// regroupFor reads the limits again before tasks are started that may be newer than they are.
func (l *loop) regroupFor(ctx context.Context, tasks []*run.Task, changed bool) error {
	g := &l.grouping
	same := l.control.Table().Group == g.table && (g.table == 0 || !changed && !g.open)
	if len(tasks) == 0 || same || time.Since(g.failed) < groupsRetry {
		return nil
	}
	return l.readGroups(ctx)
}

// readGroups reads the limits of groups, which hold from then on. In a term it begins with them:
// what a new leader does not know it must not start.
func (l *loop) readGroups(ctx context.Context) error {
	l.notices.Regrouped = false
	table, began := l.control.Table().Group, time.Now()
	if table == 0 {
		l.limit(nil)
		l.grouping = grouping{}
		return nil
	}
	limits, found, err := l.queryGroups(ctx)
	switch {
	case fault.IsAnswer(err) && fault.Has(err, "55P03") && l.grouping.table == table,
		fault.IsAnswer(err) && fault.Has(err, "42P01", "42501", "22012", "42704"):
		l.grouping.failed, l.grouping.table = time.Now(), table // it is gone, or locked: what was known of it holds until more is known
		l.look.columns = time.Time{}
		return nil
	case err != nil:
		return err
	}
	found.table, found.read, found.resumes = table, began, l.grouping.resumes
	l.grouping = found
	l.limit(limits)
	return nil
}

// limit makes these the limits that hold. What a pause has held back is looked for when it has
// ended.
func (l *loop) limit(limits []lane.Limit) {
	over := !l.grouping.resumes.IsZero() && l.runs.Clock.Until(l.grouping.resumes) <= 0
	resumed, next := l.runs.Lanes.Limit(limits)
	l.grouping.resumes = next
	if resumed || over {
		l.look.full = time.Time{}
		l.scanning.again = l.scanning.active
	}
}

// queryGroups reads the table of groups.
func (l *loop) queryGroups(ctx context.Context) (limits []lane.Limit, found grouping, err error) {
	name := sql.Beside(l.target.Relation(), "group")
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue(groupLimits)
	l.control.Queue(batch, "grouped").QueryRow(func(row pgx.Row) error {
		calm := false
		err := row.Scan(&found.version, &calm)
		found.open = !calm
		return err
	})
	l.control.Queue(batch, "groups", groupsMost+1).Query(func(rows pgx.Rows) error {
		limits, err = pgx.CollectRows(rows, limitOf)
		return err
	})
	batch.Queue("COMMIT")
	if err := l.control.Send(ctx, batch); err != nil {
		return nil, found, err
	}
	if len(limits) > groupsMost {
		return nil, found, fmt.Errorf("table %s has more than %d rows: no task starts until some are deleted", name, groupsMost)
	}
	return limits, found, nil
}

// limitOf reads a row of the table of groups.
func limitOf(row pgx.CollectableRow) (limit lane.Limit, err error) {
	var until *time.Time
	var per int64
	err = row.Scan(&limit.Group, &limit.Prefix, &limit.Paused, &until, &limit.Slots, &limit.Rate, &per)
	if until != nil {
		limit.Until = *until
	}
	limit.Per = micros(per)
	return limit, err
}

// outlives tells whether a task is worth running though its active has passed: its group is paused,
// or the end of that counts as its plan.
func (l *loop) outlives(group string, active time.Duration) bool {
	paused, ended := l.runs.Lanes.Limits.Paused(group)
	return paused || !ended.IsZero() && l.runs.Clock.Now().Before(ended.Add(active))
}

// worth tells whether a task that was read is to run, and until when.
func (l *loop) worth(group string, active time.Duration, expires **time.Time) bool {
	paused, ended := l.runs.Lanes.Limits.Paused(group)
	switch {
	case paused:
		*expires = nil
	case !ended.IsZero() && *expires != nil && (*expires).Before(ended.Add(active)):
		until := ended.Add(active)
		*expires = &until
	}
	return *expires == nil || !(*expires).Before(l.runs.Clock.Now())
}
