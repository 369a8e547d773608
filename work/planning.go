package work

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/schedule"
)

// unplanned is a task whose cron expression is still to be looked at: one that somebody has just
// inserted or given another expression, or a repetition that an end has just written. Or it is one
// of which it is still to be found out what it waits for.
type unplanned struct {
	id      int64
	version uint32
	cron    string
	origin  pgtype.Timestamptz // the beat before the one that is to be found; infinite: plan is wanted as it stands
	plan    pgtype.Timestamptz // when the row was written: what comes between origin and it was missed
	until   pgtype.Timestamptz
	catchup int32
	follows bool // it has after, and that comes first
}

// queueUnplanned asks for unplanned tasks, from where the last look has come to.
func (l *loop) queueUnplanned(batch *pgx.Batch) {
	l.control.Queue(batch, "unplanned", l.look.planned, hold.Batch).Query(l.readUnplanned)
}

func (l *loop) readUnplanned(rows pgx.Rows) error {
	l.unplanned = l.unplanned[:0]
	var u unplanned
	_, err := pgx.ForEachRow(rows, []any{&u.id, &u.version, &u.cron, &u.origin, &u.plan, &u.until, &u.catchup, &u.follows}, func() error {
		l.unplanned = append(l.unplanned, u)
		return nil
	})
	return err
}

// plan plans some of what a scan has found unplanned; the next look brings more: many that come at
// once do not keep the others waiting.
func (l *loop) plan(ctx context.Context) error {
	read := len(l.unplanned)
	if read == 0 {
		l.look.wanted = l.look.wanted || l.look.planned > math.MinInt64
		l.look.planned = math.MinInt64
		return nil
	}
	if err := l.planThese(ctx, hold.Turn); err != nil {
		return err
	}
	last, all := l.unplanned[len(l.unplanned)-1].id, len(l.unplanned) == read
	if l.look.planned = last + 1; all && (read < hold.Batch || last == math.MaxInt64) {
		l.look.planned = math.MinInt64
		return nil
	}
	l.look.wanted = true
	return nil
}

// planThese finds the beats of the unplanned tasks that were read, and writes them. Those for which
// the time does not suffice it takes from unplanned.
func (l *loop) planThese(ctx context.Context, limit time.Duration) error {
	found := make(map[int64]nextRun, len(l.unplanned))
	var ids []int64
	zone, _ := time.LoadLocation(l.timeZone()) // nil: Go does not know it
	began := time.Now()
	for i := range l.unplanned {
		u := &l.unplanned[i]
		switch {
		case l.holds.Waits(u.id):
		case u.follows:
			l.successors.Add(u.id)
		default:
			if !u.isFirst() && !u.hasZone(zone) { // whoever is to mend that ends no series meanwhile
				l.zoneless()
				l.rezone(ctx) // nothing else may run, and tell that it has changed
				l.holds.PutAfter(u.id, hold.Zoneless, 0)
				continue
			}
			next := nextRun{version: u.version}
			next.plan, next.skipped, next.err = u.beat(zone, l.timeZone())
			found[u.id], ids = next, append(ids, u.id)
		}
		if time.Since(began) > limit {
			l.unplanned = l.unplanned[:i+1]
			break
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := l.changes.EachWithWords(ctx, ids, func(ctx context.Context, ids []int64, mute bool) error {
		var p beats
		for _, id := range ids {
			p.add(id, found[id])
		}
		some, err := l.changes.Tasks(ctx, "planned", p.ids, p.versions, p.plans, p.skipped, p.errors, mute)
		if err != nil {
			return err
		}
		l.changes.PutOffOthers(ids, some)
		l.counted(slices.DeleteFunc(some, func(c change.Changed) bool { return c.State != "FAIL" }))
		return nil
	})
	l.look.wanted = true
	return err
}

// beats are the parameters of planned.sql.
type beats struct {
	ids      []int64
	versions []int32
	plans    []*pgtype.Timestamptz
	skipped  []int32
	errors   []*string
}

func (b *beats) add(id int64, next nextRun) {
	b.ids, b.versions = append(b.ids, id), append(b.versions, int32(next.version))
	b.plans, b.skipped = append(b.plans, next.plan), append(b.skipped, int32(next.skipped))
	var text *string
	if next.err != nil {
		words := "ERROR:  " + next.err.Error()
		text = &words
	}
	b.errors = append(b.errors, text)
}

// nextRun is what was found for a task as it was read.
type nextRun struct {
	version uint32
	plan    *pgtype.Timestamptz
	skipped int
	err     error
}

// The range of plan, as the table's trigger has it.
var (
	plansFrom   = time.Date(-1999, 1, 1, 0, 0, 0, 0, time.UTC)
	plansBefore = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// isFirst tells a task that is to be planned by cron for the first time.
func (u *unplanned) isFirst() bool {
	return u.origin.InfinityModifier != pgtype.Finite || u.plan.InfinityModifier != pgtype.Finite || !u.plan.Time.After(u.origin.Time)
}

// hasZone tells whether the expression can be read: where it names no zone, in this one.
func (u *unplanned) hasZone(zone *time.Location) bool {
	return zone != nil || strings.Contains(u.cron, "TZ=")
}

// beat is what the task is to be planned for, nil if nothing is left, and how many beats have been
// passed over before. zone is that of expressions that name none, by its name.
func (u *unplanned) beat(zone *time.Location, name string) (plan *pgtype.Timestamptz, skipped int, err error) {
	if !u.hasZone(zone) {
		return nil, 0, fmt.Errorf("cron needs a time zone: that of the target, %q, is no name of the tz database\nHINT:  Give the target a \"timezone\", or begin cron with CRON_TZ=", name)
	}
	s, err := schedule.Parse(u.cron, zone)
	if err != nil {
		return nil, 0, err
	}
	if u.origin.InfinityModifier != pgtype.Finite {
		return &u.plan, 0, nil
	}
	var when time.Time
	var found bool
	if u.isFirst() { // until and catchup are for repetitions
		when, found = s.Next(u.origin.Time)
	} else {
		var until time.Time
		if u.until.Valid && u.until.InfinityModifier == pgtype.Finite {
			until = u.until.Time
		}
		when, skipped, found = s.Missed(u.origin.Time, u.plan.Time, until, int(u.catchup))
	}
	switch {
	case !found:
		return nil, 0, nil
	case when.Before(plansFrom) || !when.Before(plansBefore):
		return nil, 0, errors.New("the next run of cron is out of the range of plan: from 2000 BC to the year 9999")
	}
	return &pgtype.Timestamptz{Time: when, Valid: true}, skipped, nil
}
