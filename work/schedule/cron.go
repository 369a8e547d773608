package schedule

import (
	"errors"
	"math"
	"math/bits"
	"regexp"
	"time"
	_ "time/tzdata" // machines without zones of their own
)

// cron are the beats of an expression with fields.
type cron struct {
	days  days
	clock clock
	zone  zone
	// follow: the hours begin with *, so the beats go by the clock on the wall. Else what the clock
	// skips comes once, at the change, and what it shows twice comes the first time.
	follow bool
}

func (c cron) count(after, last time.Time) int64 {
	return c.counted(after.Unix()+1, last.Unix())
}

// counted is the number of beats from one time on, and not after another.
func (c cron) counted(t, end int64) (n int64) {
	for t <= end {
		s := c.zone.at(t)
		from, before := t+s.offset, min(s.end, end+1)+s.offset
		if !c.follow && s.start > -ever {
			opens := s.start + s.offset
			// The wall up to which the clock has come: no zone changes it twice within two days.
			reached := s.start + c.zone.at(s.start-1).offset
			if t <= s.start && c.walls(reached, opens) > 0 && c.walls(opens, opens+1) == 0 {
				n++ // for what the clock has skipped
			}
			from = max(from, reached)
		}
		n += c.walls(from, before)
		t = s.end
	}
	return n
}

// walls is how often the clock on the wall shows a beat, from one wall on and before another, in
// seconds since 1970.
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

// nth looks in longer and longer spans for the one that has the beat, and then in its halves.
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
	last            bool // the last day of the month, besides dom
	either          bool // dom or dow is enough, as neither begins with *
}

// ahead is the set of those days that are left of a day's month, that day's own bit first, and how
// many days are left in all. Days are counted from 1970.
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

// count is the number of days of the set from one day on, and before another.
func (d days) count(from, before int64) int64 {
	n := int64(0)
	for from < before {
		set, left := d.ahead(from)
		n += int64(below(set, min(left, before-from)))
		from += left
	}
	return n
}

// come tells whether there is a day: every date falls on every day of the week some time.
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

// clock is the set of an expression's times of a day, a bit for each value.
type clock struct{ second, minute, hour uint64 }

// size is how many times there are in a day.
func (c clock) size() int64 {
	return int64(bits.OnesCount64(c.hour) * bits.OnesCount64(c.minute) * bits.OnesCount64(c.second))
}

// before tells how many times are before a second of the day.
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

// below counts the members of a set that are less than a value.
func below(set uint64, value int64) int { return bits.OnesCount64(set & (1<<value - 1)) }

// zoneName is the form of the tz database's names. Only these have a digit: PostgreSQL takes any other text
// with one for a rule (POSIX).
var zoneName = regexp.MustCompile(`^(?:[A-Z][A-Za-z_-]*(?:/[A-Z][A-Za-z_-]*)*|(?:Etc/)?GMT[+-]?0|Etc/GMT(?:\+(?:[1-9]|1[0-2])|-(?:[1-9]|1[0-4]))|EST5EDT|CST6CDT|MST7MDT|PST8PDT)$`)

var errZone = errors.New("is not known: a zone is a name of the tz database, such as Europe/Berlin")

// LoadZone finds a zone of the tz database by its name.
func LoadZone(name string) (*time.Location, error) {
	if !zoneName.MatchString(name) || name == time.Local.String() { // which Go takes for this machine's
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
