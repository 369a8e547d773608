package plan

import (
	"context"
	"time"

	"pgtaskd/work/control"
)

// The zone in which repetitions are counted, if the configuration names none, is the one that the role
// has in the database now. The control session has that of its start, so when the settings of databases
// and roles have changed, a new session tells.

const (
	zoneLimit = 2 * time.Second  // how long the loop waits for that session,
	zoneAgain = 10 * time.Second // and how often it tries if there is none to be had
)

// Begin begins a term.
func (p *Planner) Begin() { p.epoch, p.tried = 0, time.Time{} }

// zone is the zone's name.
func (p *Planner) zone() string { return p.Control.Facts().TimeZone }

// Refresh takes up the role's time zone when the settings have another epoch than before.
func (p *Planner) Refresh(ctx context.Context, epoch int64) {
	if epoch != p.epoch && p.readZone(ctx) {
		p.epoch, p.tried = epoch, time.Time{}
	}
}

// readZone takes up the role's time zone; false if that was tried a while ago, or is not to be had.
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

// tellUnknown says that series wait for a zone.
func (p *Planner) tellUnknown() {
	p.Log.Hourly(p.Log.Error(), "zone").Str("timezone", p.zone()).
		Str("hint", `give the target a "timezone", or set that of its role and database to a name of the tz database`).
		Msg("the time zone is no name of the tz database: repetitions by cron wait")
}
