package schedule

import (
	"errors"
	"math"
	"math/bits"
	"regexp"
	"time"
	_ "time/tzdata" // for machines without zone files
)

// cron has the beats of an expression with fields.
type cron struct {
	days  days
	clock clock
	zone  zone
	// follow: the hours begin with *, so every showing of a beat on the wall clock counts.
	// Otherwise skipped beats come once, at the change; beats that are shown twice come the first
	// time.
	follow bool
}

func (c cron) count(after, last time.Time) int64 {
	return c.counted(after.Unix()+1, last.Unix())
}

// counted counts the beats from t to end, including both.
func (c cron) counted(t, end int64) (n int64) {
	for t <= end {
		s := c.zone.at(t)
		from, before := t+s.offset, min(s.end, end+1)+s.offset
		if !c.follow && s.start > -ever {
			opens := s.start + s.offset
			// The wall that the clock had reached before: no zone changes twice within two days.
			reached := s.start + c.zone.at(s.start-1).offset
			if t <= s.start && c.walls(reached, opens) > 0 && c.walls(opens, opens+1) == 0 {
				n++ // all skipped beats come once
			}
			from = max(from, reached)
		}
		n += c.walls(from, before)
		t = s.end
	}
	return n
}

// walls counts the beats that the wall clock shows from one wall on and before another.
func (c cron) walls(from, before int64) int64 {
	if from >= before {
		return 0
	}
	d, end := floorDiv(from, day), floorDiv(before, day)
	n := c.days.count(d, end) * c.clock.size()
	if c.days.has(end) {
		n += c.clock.before(floorMod(before, day))
	}
	if c.days.has(d) {
		n -= c.clock.before(floorMod(from, day))
	}
	return n
}

// nth doubles the span of its search until the span has the beat, and then halves it.
func (c cron) nth(after time.Time, n int64) time.Time {
	t, width := after.Unix()+1, int64(1<<17)
	passes := func() bool {
		passed := c.counted(t, t+width-1)
		if passed >= n {
			return false
		}
		n, t = n-passed, t+width
		return true
	}
	for passes() {
		width *= 2
	}
	for width > 1 {
		width /= 2
		passes()
	}
	return time.Unix(t, 0)
}

// days is the set of an expression's days.
type days struct {
	dom, month, dow uint64
	last            bool // the last day of the month too
	either          bool // dom or dow is enough, as neither begins with *
}

// ahead returns the set's days in the rest of a month, from day n on (the lowest bit), and the
// number of days in that rest. Days are counted from 1970.
func (d days) ahead(n int64) (set uint64, left int64) {
	today := time.Unix(n*day, 0).UTC()
	year, month, date := today.Date()
	left = int64(monthLength(year, month) - date + 1)
	if d.month>>month&1 == 0 {
		return 0, left
	}
	dom := d.dom >> date
	if d.last {
		dom |= 1 << (left - 1)
	}
	const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	set = d.dow & 127 * everyWeek >> today.Weekday()
	if d.either {
		set |= dom
	} else {
		set &= dom
	}
	return set & (1<<left - 1), left
}

func (d days) has(n int64) bool {
	set, _ := d.ahead(n)
	return set&1 == 1
}

// count counts the set's days from one day on and before another.
func (d days) count(from, before int64) int64 {
	n := int64(0)
	for from < before {
		set, left := d.ahead(from)
		n += int64(below(set, min(left, before-from)))
		from += left
	}
	return n
}

// come tells whether any day is in the set. Every date falls on every day of the week at some time,
// so only dom and month decide.
func (d days) come() bool {
	if d.either || d.last {
		return true
	}
	for month := time.January; month <= time.December; month++ {
		if d.month>>month&1 == 1 && d.dom&(2<<monthLength(2000, month)-1) != 0 {
			return true
		}
	}
	return false
}

func monthLength(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func floorDiv(a, b int64) int64 { return (a - floorMod(a, b)) / b }

func floorMod(a, b int64) int64 { return (a%b + b) % b }

// clock is the set of an expression's times of day, one bit for each value.
type clock struct{ second, minute, hour uint64 }

// size returns the number of times in a day.
func (c clock) size() int64 {
	return int64(bits.OnesCount64(c.hour) * bits.OnesCount64(c.minute) * bits.OnesCount64(c.second))
}

// before counts the times before a second of the day.
func (c clock) before(second int64) int64 {
	h, m, s := second/3600, second/60%60, second%60
	minutes, seconds := bits.OnesCount64(c.minute), bits.OnesCount64(c.second)
	n := below(c.hour, h) * minutes * seconds
	if c.hour>>h&1 == 1 {
		n += below(c.minute, m) * seconds
		if c.minute>>m&1 == 1 {
			n += below(c.second, s)
		}
	}
	return int64(n)
}

// below counts the members of a set below a value.
func below(set uint64, value int64) int { return bits.OnesCount64(set & (1<<value - 1)) }

// zoneName is the form of names in the tz database. Only the names listed here may have a digit:
// PostgreSQL reads any other text with a digit as a POSIX rule.
var zoneName = regexp.MustCompile(`^(?:[A-Z][A-Za-z_-]*(?:/[A-Z][A-Za-z_-]*)*|(?:Etc/)?GMT[+-]?0|Etc/GMT(?:\+(?:[1-9]|1[0-2])|-(?:[1-9]|1[0-4]))|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$`)

var errZone = errors.New("is not known: a zone is a name of the tz database, such as Europe/Berlin")

// LoadZone finds a zone of the tz database by its name.
func LoadZone(name string) (*time.Location, error) {
	if !zoneName.MatchString(name) || name == "Local" { // Go takes it for this machine's zone
		return nil, errZone
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, errZone
	}
	return location, nil
}

// zone converts between times and walls. A time is in seconds since 1970 in UTC; a wall is what the
// wall clock shows, in seconds since 1970 on that clock.
type zone struct{ *time.Location }

// span is a period without a change of the clock: from start, and before end.
type span struct{ start, end, offset int64 }

const (
	ever = math.MaxInt64 / 4 // start of the first span and end of the last; more could overflow
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
	if s.end <= t { // after the end of its table, Go takes each year for 365 days
		s.end = time.Date(moment.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()
	}
	return s
}

// time returns the time at which the clock shows a wall, as PostgreSQL does: the later time if the
// clock shows the wall twice; if never, the time at which it would without the change.
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

// add returns a time plus n intervals: first the months, then the days, both by the calendar, then
// the microseconds. The 31st becomes the last day of a shorter month.
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
	whole, micros := bits.Div64(high, low, second) // 128 bits: n * Micros may overflow 64
	return time.Unix(seconds+int64(whole), nanos+int64(micros)*1e3)
}
