package conf

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// units are the names that PostgreSQL has for units of fixed length.
var units = unitNames(map[time.Duration]string{
	time.Microsecond: "us usec usecs usecond useconds microsecond microseconds",
	time.Millisecond: "ms msec msecs msecond mseconds millisecond milliseconds",
	time.Second:      "s sec secs second seconds",
	time.Minute:      "m min mins minute minutes",
	time.Hour:        "h hr hrs hour hours",
	day:              "d day days",
	week:             "w week weeks",
})

// elastic are units whose length depends on the calendar.
var elastic = unitNames(map[time.Duration]string{
	0: "mon mons month months y yr yrs year years dec decs decade decades " +
		"c cent century centuries mil mils millennia millennium",
})

func unitNames(names map[time.Duration]string) map[string]time.Duration {
	byName := map[string]time.Duration{}
	for unit, list := range names {
		for name := range strings.FieldsSeq(list) {
			byName[name] = unit
		}
	}
	return byName
}

var (
	errNoInterval = errors.New(`must be a duration such as "25 s", "1 hour", "1 day 12 h", "01:30:00" or "PT90S"`)
	errElastic    = errors.New("must be a duration of fixed length; that of months and years depends on the calendar")
	errTwice      = errors.New("must be a duration in which each unit is given once")
	errTooFine    = errors.New("must be a whole number of microseconds")
	errTooLong    = errors.New("must be shorter than 290 years")
)

// parseInterval reads a duration as PostgreSQL reads an interval. It knows the
// forms that people write, and refuses the rest of PostgreSQL's: what it accepts
// means the same there, to the microsecond, under every IntervalStyle. A day
// has 24 hours.
func parseInterval(s string) (time.Duration, error) {
	var parts []part
	var err error
	switch {
	case plain.MatchString(s):
		parts = []part{{s, time.Second}}
	case strings.HasPrefix(s, "P"):
		parts, err = parseISO(s)
	default:
		parts, err = parseWords(strings.ToLower(s))
	}
	if err != nil {
		return 0, err
	}
	return total(parts)
}

// part is an amount with its unit: digits, perhaps with a decimal fraction.
type part struct {
	amount string
	unit   time.Duration
}

var (
	plain = regexp.MustCompile(`^\d+(\.\d+)?$`)
	words = regexp.MustCompile(`^(\d+(?:\.\d+)?)[ \t]*([a-z]+)(?:[ \t]+|$)`)
	clock = regexp.MustCompile(`^(\d+):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$`)
	iso   = regexp.MustCompile(`^P(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(?:\.\d+)?S)?)?$`)
)

// parseISO reads the form of ISO 8601 with designators, such as P1DT2H. Only
// seconds may have a fraction: of larger units PostgreSQL loses digits there.
func parseISO(s string) ([]part, error) {
	m := iso.FindStringSubmatch(s)
	switch {
	case m == nil || s == "P" || m[5] == "T":
		return nil, errNoInterval
	case m[1] != "" || m[2] != "":
		return nil, errElastic
	}
	var parts []part
	for _, found := range []part{{m[3], week}, {m[4], day}, {m[6], time.Hour}, {m[7], time.Minute}, {m[8], time.Second}} {
		if found.amount != "" {
			parts = append(parts, part{found.amount[:len(found.amount)-1], found.unit})
		}
	}
	return parts, nil
}

// parseWords reads amounts with units, such as 1 h 30 min. At the end, a clock
// time may stand in place of hours, minutes and seconds.
func parseWords(s string) ([]part, error) {
	var parts []part
	for rest := s; rest != ""; {
		m := words.FindStringSubmatch(rest)
		if m == nil {
			return parseClock(rest, parts)
		}
		if _, ok := elastic[m[2]]; ok {
			return nil, errElastic
		}
		unit, ok := units[m[2]]
		if !ok {
			return nil, errNoInterval
		}
		parts = append(parts, part{m[1], unit})
		rest = rest[len(m[0]):]
	}
	return parts, nil
}

// parseClock reads a clock time that follows amounts of days and weeks, if any.
func parseClock(s string, parts []part) ([]part, error) {
	m := clock.FindStringSubmatch(s)
	if m == nil {
		return nil, errNoInterval
	}
	for _, before := range parts {
		if before.unit < day {
			return nil, errNoInterval
		}
	}
	return append(parts, part{m[1], time.Hour}, part{m[2], time.Minute}, part{cmp.Or(m[3], "0"), time.Second}), nil
}

// total adds up the parts. As in PostgreSQL each unit may be given once, and a
// fraction of a second in one way only.
func total(parts []part) (time.Duration, error) {
	if len(parts) == 0 {
		return 0, errNoInterval
	}
	var sum time.Duration
	given := map[time.Duration]bool{}
	fraction := false
	for _, p := range parts {
		fraction = fraction || p.unit == time.Second && strings.Contains(p.amount, ".")
		if given[p.unit] {
			return 0, errTwice
		}
		given[p.unit] = true
		length, err := p.length()
		if err != nil {
			return 0, err
		}
		if sum += length; sum < 0 {
			return 0, errTooLong
		}
	}
	if fraction && (given[time.Millisecond] || given[time.Microsecond]) {
		return 0, errTwice
	}
	return sum, nil
}

// length is exact: PostgreSQL calculates with floating point, and comes to the
// same where the result is a whole number of microseconds.
func (p part) length() (time.Duration, error) {
	whole, fraction, _ := strings.Cut(p.amount, ".")
	n, err := strconv.ParseInt(whole, 10, 32) // older servers take no more
	if err != nil || n > int64(math.MaxInt64/p.unit)-1 {
		return 0, errTooLong
	}
	length := time.Duration(n) * p.unit
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		return length, nil
	}
	if len(fraction) > 6 {
		return 0, errTooFine
	}
	part, _ := strconv.ParseInt((fraction + "00000")[:6], 10, 64) // millionths of the unit
	part *= p.unit.Microseconds()
	if part%1_000_000 != 0 {
		return 0, errTooFine
	}
	return length + time.Duration(part/1_000_000)*time.Microsecond, nil
}
