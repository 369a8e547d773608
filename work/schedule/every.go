package schedule

import (
	"math/bits"
	"sort"
	"time"
)

// every are the beats of @every: after + k times the interval, as PostgreSQL adds them up.
type every struct {
	interval Interval
	zone     zone
}

func (e every) next(after time.Time) (time.Time, bool) { return e.nth(after, 1), true }

func (e every) nth(after time.Time, n int64) time.Time {
	return e.zone.add(after, e.interval, n)
}

// most is how many beats are counted at most.
const most = 1 << 62

func (e every) count(after, last time.Time) int64 {
	top := int64(1)
	for ; top < most && !e.nth(after, top).After(last); top *= 2 {
	}
	return int64(sort.Search(int(top), func(n int) bool { return e.nth(after, int64(n)+1).After(last) }))
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
