package work

import (
	"context"
	"time"

	"pgtaskd/work/control"
)

// zone is the time zone in which repetitions are counted, where the configuration names none: the
// one that the role has in the database now. The control session has that of its start, so when the
// settings of databases and roles have changed, a new session tells. It belongs to the loop, but
// for its name, which runners read (zoneName).
type zone struct {
	epoch int64 // of the settings when the zone was read
	tried time.Time
}

// zoneLimit bounds how long the loop waits for a session that tells the zone, and zoneAgain how
// often it tries where there is none to be had.
const (
	zoneLimit = 2 * time.Second
	zoneAgain = 10 * time.Second
)

// inZone takes up the role's time zone when the settings have another epoch than before.
func (l *loop) inZone(ctx context.Context, epoch int64) {
	if epoch != l.zone.epoch && l.rezone(ctx) {
		l.zone = zone{epoch: epoch}
	}
}

// rezone takes up the role's time zone; false where that was tried a while ago, or is not to be had.
func (l *loop) rezone(ctx context.Context) bool {
	known := l.runs.Zone.Load()
	if known == nil || l.target.TimeZone != "" || time.Since(l.zone.tried) < zoneAgain {
		return false
	}
	l.zone.tried = time.Now()
	limit, cancel := context.WithTimeout(ctx, zoneLimit)
	name, err := control.RoleSetting(limit, l.target, "TimeZone")
	cancel()
	if err != nil {
		l.log.Debug().Err(err).Msg("cannot read the role's time zone")
		return false
	}
	if name != *known {
		if err := l.control.SetTimeZone(ctx, name); err != nil {
			return false
		}
		l.runs.Zone.Store(&name)
	}
	return true
}

// zoneless says that series wait for a zone.
func (l *loop) zoneless() {
	l.log.Hourly(l.log.Error(), "zone").Str("timezone", l.timeZone()).Str("hint", `give the target a "timezone", or set that of its role and database to a name of the tz database`).
		Msg("the time zone is no name of the tz database: repetitions by cron wait")
}
