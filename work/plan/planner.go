package plan

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// Planner plans tasks with a cron expression.
type Planner struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Target  target.Target
	Log     *target.Log
	After   func(id int64) // called for a task with after: it waits for others first

	unplanned []unplanned // found by the last look
	from      int64       // the next look begins at this id; the least: at the first

	epoch int64     // of the role's settings when the zone was read
	tried time.Time // when the zone was read last
}

// Clear forgets the position. Call it when a term begins or ends, and before anything else.
func (p *Planner) Clear() { p.unplanned, p.from = nil, math.MinInt64 }

// Queue asks for unplanned tasks, from the position of the last look on.
func (p *Planner) Queue(batch *pgx.Batch) {
	p.Control.Queue(batch, "unplanned", p.from, hold.Batch).Query(func(rows pgx.Rows) error {
		p.unplanned = p.unplanned[:0]
		var u unplanned
		into := []any{&u.id, &u.version, &u.cron, &u.origin, &u.plan, &u.until, &u.catchup, &u.follows, &u.hasAfter}
		_, err := pgx.ForEachRow(rows, into, func() error {
			p.unplanned = append(p.unplanned, u)
			return nil
		})
		return err
	})
}

// Step plans some of the tasks that were found. The next look brings more, so that many new tasks
// do not hold up the others.
func (p *Planner) Step(ctx context.Context) error {
	read := len(p.unplanned)
	if read == 0 {
		if p.from > math.MinInt64 {
			p.Changes.Want()
		}
		p.from = math.MinInt64
		return nil
	}
	n, err := p.plan(ctx, hold.Turn)
	if err != nil {
		return err
	}
	last := p.unplanned[n-1].id
	if p.from = last + 1; n == read && (read < hold.Batch || last == math.MaxInt64) {
		p.from = math.MinInt64
		return nil
	}
	p.Changes.Want()
	return nil
}

// plan computes and writes the beats of the first n tasks that were read: at least one, and as many
// as the time limit allows.
func (p *Planner) plan(ctx context.Context, limit time.Duration) (n int, err error) {
	beats := make(map[int64]beat, len(p.unplanned))
	zone, _ := time.LoadLocation(p.zone()) // nil: Go does not know it
	began := time.Now()
	for n < len(p.unplanned) && (n == 0 || time.Since(began) <= limit) {
		u := &p.unplanned[n]
		n++
		switch {
		case p.Holds.Waits(u.id):
		case u.hasAfter:
			p.After(u.id)
		case !u.isFirst() && !u.hasZone(zone): // wait: the series must not end for this
			p.tellUnknown()
			p.readZone(ctx) // maybe no other task runs, whose row would show a new epoch
			p.Holds.PutAfter(u.id, hold.Zoneless, 0)
		default:
			beats[u.id] = u.next(zone, p.zone())
		}
	}
	if len(beats) > 0 {
		p.Changes.Want()
		err = p.write(ctx, beats)
	}
	return n, err
}

// write writes the beats into the rows. Tasks without a beat FAIL, with the reason.
func (p *Planner) write(ctx context.Context, beats map[int64]beat) error {
	all := slices.Sorted(maps.Keys(beats))
	_, err := p.Changes.EachWithWords(ctx, all, func(ids []int64, mute bool) error {
		versions, plans := make([]int32, len(ids)), make([]*pgtype.Timestamptz, len(ids))
		skipped, errors := make([]int32, len(ids)), make([]*string, len(ids))
		for i, id := range ids {
			b := beats[id]
			versions[i], plans[i], skipped[i] = int32(b.version), b.plan, int32(b.skipped)
			if b.err != nil {
				text := "ERROR:  " + b.err.Error()
				errors[i] = &text
			}
		}
		some, err := p.Changes.Tasks(ctx, "planned", ids, versions, plans, skipped, errors, mute)
		if err != nil {
			return err
		}
		p.Changes.PutOffOthers(ids, some)
		p.Changes.Ended(slices.DeleteFunc(some, func(c change.Changed) bool { return c.State != "FAIL" }))
		return nil
	})
	return err
}

// If the configuration names no zone, repetitions are counted in the role's current zone in the
// database. The control session still has the zone of its start. So when the settings of databases
// and roles have changed, the planner opens a new session to read the zone.

const (
	zoneLimit = 2 * time.Second  // how long the loop waits for that session
	zoneAgain = 10 * time.Second // rest after a try that failed
)

// Begin begins a term.
func (p *Planner) Begin() { p.epoch, p.tried = 0, time.Time{} }

// zone returns the name of the zone.
func (p *Planner) zone() string { return p.Control.Facts().TimeZone }

// Refresh reads the role's time zone if the epoch of the settings has changed.
func (p *Planner) Refresh(ctx context.Context, epoch int64) {
	if epoch != p.epoch && p.readZone(ctx) {
		p.epoch, p.tried = epoch, time.Time{}
	}
}

// readZone reads the role's time zone, and sets it in the control session. false: it could not, or
// has tried within zoneAgain, or the configuration names the zone.
func (p *Planner) readZone(ctx context.Context) bool {
	if p.Target.TimeZone != "" || time.Since(p.tried) < zoneAgain {
		return false
	}
	p.tried = time.Now()
	limit, cancel := context.WithTimeout(ctx, zoneLimit)
	name, err := control.RoleSetting(limit, p.Target, "TimeZone")
	cancel()
	if err != nil {
		p.Log.Debug().Err(err).Msg("cannot read the role's time zone")
		return false
	}
	return name == p.zone() || p.Control.SetTimeZone(ctx, name) == nil
}

// tellUnknown logs that series wait for a time zone.
func (p *Planner) tellUnknown() {
	p.Log.Hourly(p.Log.Error(), "zone").Str("timezone", p.zone()).
		Str("hint", `give the target a "timezone", or set that of its role and database to a name of the tz database`).
		Msg("the time zone is no name of the tz database: repetitions by cron wait")
}
