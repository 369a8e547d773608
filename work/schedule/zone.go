package schedule

import (
	"errors"
	"math"
	"math/bits"
	"regexp"
	"time"

	_ "time/tzdata" // machines without zones of their own
)

// zoneName is the form of the tz database's names that are accepted: with a region, or UTC, or GMT.
// Names without a region are mostly abbreviations, and those mean something else to each reader:
// EST is five hours behind UTC the whole year. A digit is part of a name only in Etc, else
// PostgreSQL takes the text for a rule (POSIX).
var zoneName = regexp.MustCompile(`^(?:UTC|GMT|[A-Z][A-Za-z_]*(?:/[A-Z][A-Za-z_-]*)+|Etc/GMT(?:[+-]?0|\+(?:[1-9]|1[0-2])|-(?:[1-9]|1[0-4])))$`)

var errZone = errors.New("is not known: a zone is a name with a region, such as Europe/Berlin, or UTC")

// LoadZone finds a zone of the tz database by its name.
func LoadZone(name string) (*time.Location, error) {
	if !zoneName.MatchString(name) {
		return nil, errZone
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, errZone
	}
	return location, nil
}

// A zone tells times apart from what the clock on the wall shows. Both are seconds: times since
// 1970 in UTC, walls since 1970 on that clock.
type zone struct{ *time.Location }

// A span is a time during which the clock is not changed: from start, before end.
type span struct{ start, end, offset int64 }

const (
	ever = math.MaxInt64 / 4 // for the ends of the first and the last span; more could overflow
	day  = 24 * 60 * 60
)

func (z zone) at(t int64) span {
	moment := time.Unix(t, 0).In(z.Location)
	_, offset := moment.Zone()
	start, end := moment.ZoneBounds()
	s := span{-ever, ever, int64(offset)}
	if !start.IsZero() {
		s.start = start.Unix()
	}
	if !end.IsZero() {
		s.end = end.Unix()
	}
	if s.end <= t { // beyond its table Go gives each year 365 days
		s.end = time.Date(moment.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return s
}

// time is when a clock shows a wall, as PostgreSQL understands it: the later time if it shows it
// twice; if never, the one that would show it without the change.
func (z zone) time(wall int64) int64 {
	before := z.at(wall - day)
	if earlier := wall - before.offset; before.end == ever || earlier < before.end && wall-z.at(before.end).offset < before.end {
		return earlier
	}
	if later := wall - z.at(before.end).offset; later >= before.end {
		return later
	}
	return wall - before.offset
}

// add is a time plus n intervals: first the months, then the days, both by the calendar, then the
// rest. The 31st of a month becomes the last day of a shorter one.
func (z zone) add(t time.Time, i Interval, n int64) time.Time {
	seconds, nanos := t.Unix(), int64(t.Nanosecond())
	if i.Months > 0 {
		wall := seconds + z.at(seconds).offset
		year, month, date := time.Unix(wall, 0).UTC().Date()
		year, month, _ = time.Date(year, month+time.Month(n*i.Months), 1, 0, 0, 0, 0, time.UTC).Date()
		to := time.Date(year, month, min(date, monthLength(year, month)), 0, 0, 0, 0, time.UTC)
		seconds = z.time(to.Unix() + floorMod(wall, day))
	}
	if i.Days > 0 {
		seconds = z.time(seconds + z.at(seconds).offset + n*i.Days*day)
	}
	high, low := bits.Mul64(uint64(n), uint64(i.Micros))
	whole, micros := bits.Div64(high, low, second) // of as many as lie between two times
	return time.Unix(seconds+int64(whole), nanos+int64(micros)*1e3)
}
