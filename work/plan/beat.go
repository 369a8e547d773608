package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/schedule"
)

// unplanned is a row of unplanned.sql: a task with after, or one that has no beat yet.
type unplanned struct {
	id       int64
	version  uint32
	cron     string
	origin   pgtype.Timestamptz // the beat before the next one; infinite: the plan stays as it is
	plan     pgtype.Timestamptz // of a repetition: now. Beats between origin and plan were missed
	until    pgtype.Timestamptz
	catchup  int32
	follows  bool // a repetition; only read if it has until
	hasAfter bool
}

// beat is the next beat of a task.
type beat struct {
	version uint32              // of the row that was read
	plan    *pgtype.Timestamptz // nil: no beat is left before until
	skipped int                 // beats that were passed over
	err     error               // why the task has no beat
}

// The range of plan, the same as in the table's trigger.
var (
	plansFrom   = time.Date(-1999, 1, 1, 0, 0, 0, 0, time.UTC)
	plansBefore = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// isFirst tells whether a task gets its first plan by cron. Otherwise it is a repetition.
func (u *unplanned) isFirst() bool {
	return u.origin.InfinityModifier != pgtype.Finite || u.plan.InfinityModifier != pgtype.Finite ||
		!u.plan.Time.After(u.origin.Time)
}

// hasZone tells whether there is a zone for the expression: its own, or the target's.
func (u *unplanned) hasZone(zone *time.Location) bool {
	return zone != nil || strings.Contains(u.cron, "TZ=")
}

// next computes the beat. zone and its name are for expressions that name no zone.
func (u *unplanned) next(zone *time.Location, name string) (b beat) {
	b.version = u.version
	if !u.hasZone(zone) {
		b.err = fmt.Errorf("cron needs a time zone: that of the target, %q, is no name of the tz database\n"+
			"HINT:  Give the target a \"timezone\", or begin cron with CRON_TZ=", name)
		return b
	}
	s, err := schedule.Parse(u.cron, zone)
	switch {
	case err != nil:
		b.err = err
		return b
	case u.origin.InfinityModifier != pgtype.Finite:
		b.plan = &u.plan
		return b
	}
	var when, until time.Time
	var found bool
	if u.until.Valid && u.until.InfinityModifier == pgtype.Finite {
		until = u.until.Time
	}
	if u.isFirst() { // no beat was missed
		when = s.Next(u.origin.Time)
		found = until.IsZero() || !when.After(until)
	} else {
		when, b.skipped, found = s.Missed(u.origin.Time, u.plan.Time, until, int(u.catchup))
	}
	switch {
	case !found && u.follows:
		b.skipped = 0
	case !found:
		b.skipped, b.err = 0, errors.New("the next run of cron is after until")
	case when.Before(plansFrom) || !when.Before(plansBefore):
		b.skipped, b.err = 0, errors.New("the next run of cron is out of the range of plan: from 2000 BC to the year 9999")
	default:
		b.plan = &pgtype.Timestamptz{Time: when, Valid: true}
	}
	return b
}
