package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/schedule"
)

// unplanned is a row of unplanned.sql: a task with a cron expression that nobody has read, or with after.
type unplanned struct {
	id       int64
	version  uint32
	cron     string
	origin   pgtype.Timestamptz // the beat before the one to find; infinite: plan is wanted as it stands
	plan     pgtype.Timestamptz // when the row was written: beats between origin and plan were missed
	until    pgtype.Timestamptz
	catchup  int32
	hasAfter bool
}

// beat is the next one of a task as it was read.
type beat struct {
	version uint32
	plan    *pgtype.Timestamptz // nil: nothing is left
	skipped int                 // beats that have been passed over before
	err     error               // there is none to be found
}

// The range of plan, as the table's trigger has it.
var (
	plansFrom   = time.Date(-1999, 1, 1, 0, 0, 0, 0, time.UTC)
	plansBefore = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// isFirst tells a task that is to be planned by cron for the first time.
func (u *unplanned) isFirst() bool {
	return u.origin.InfinityModifier != pgtype.Finite || u.plan.InfinityModifier != pgtype.Finite ||
		!u.plan.Time.After(u.origin.Time)
}

// hasZone tells whether the expression can be read: in this zone, if it names none.
func (u *unplanned) hasZone(zone *time.Location) bool {
	return zone != nil || strings.Contains(u.cron, "TZ=")
}

// next finds the beat. zone, and its name, are for expressions that name none.
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
	var when time.Time
	found := true
	if u.isFirst() { // until and catchup are for repetitions
		when = s.Next(u.origin.Time)
	} else {
		var until time.Time
		if u.until.Valid && u.until.InfinityModifier == pgtype.Finite {
			until = u.until.Time
		}
		when, b.skipped, found = s.Missed(u.origin.Time, u.plan.Time, until, int(u.catchup))
	}
	switch {
	case !found:
		b.skipped = 0
	case when.Before(plansFrom) || !when.Before(plansBefore):
		b.skipped, b.err = 0, errors.New("the next run of cron is out of the range of plan: from 2000 BC to the year 9999")
	default:
		b.plan = &pgtype.Timestamptz{Time: when, Valid: true}
	}
	return b
}
