package plan

import (
	"context"
	"time"

	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Zone is the time zone in which repetitions are counted, where the configuration names none: the
// one that the role has in the database now. The control session has that of its start, so when the
// settings of databases and roles have changed, a new session tells.
type Zone struct {
	control *control.Control
	target  target.Target
	log     *target.Log

	name  string
	epoch int64     // of the settings when the zone was read
	tried time.Time // when that was tried last
}

// zoneLimit bounds how long the loop waits for a session that tells the zone, and zoneAgain how
// often it tries where there is none to be had.
const (
	zoneLimit = 2 * time.Second
	zoneAgain = 10 * time.Second
)

// Begin takes down the zone of the control session when a term begins.
func (z *Zone) Begin(name string) { z.name, z.epoch, z.tried = name, 0, time.Time{} }

// Name is that of the zone; "": no term has begun.
func (z *Zone) Name() string { return z.name }

// Follow takes up the role's time zone when the settings have another epoch than before.
func (z *Zone) Follow(ctx context.Context, epoch int64) {
	if epoch != z.epoch && z.read(ctx) {
		z.epoch, z.tried = epoch, time.Time{}
	}
}

// read takes up the role's time zone; false where that was tried a while ago, or is not to be had.
func (z *Zone) read(ctx context.Context) bool {
	if z.name == "" || z.target.TimeZone != "" || time.Since(z.tried) < zoneAgain {
		return false
	}
	z.tried = time.Now()
	limit, cancel := context.WithTimeout(ctx, zoneLimit)
	name, err := control.RoleSetting(limit, z.target, "TimeZone")
	cancel()
	if err != nil {
		z.log.Debug().Err(err).Msg("cannot read the role's time zone")
		return false
	}
	if name != z.name {
		if err := z.control.SetTimeZone(ctx, name); err != nil {
			return false
		}
		z.name = name
	}
	return true
}

// location is nil where Go does not know the zone.
func (z *Zone) location() *time.Location {
	found, _ := time.LoadLocation(z.name)
	return found
}

// tellUnknown says that series wait for a zone.
func (z *Zone) tellUnknown() {
	z.log.Hourly(z.log.Error(), "zone").Str("timezone", z.name).
		Str("hint", `give the target a "timezone", or set that of its role and database to a name of the tz database`).
		Msg("the time zone is no name of the tz database: repetitions by cron wait")
}
