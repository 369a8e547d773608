package schedule

import (
	"cmp"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Interval is an interval as PostgreSQL keeps it. The parts are separate, because the length of a
// month or a day depends on the calendar. No part is negative.
type Interval struct{ Months, Days, Micros int64 }

// Errors of ParseInterval.
var (
	ErrNoInterval = errors.New(`must be a duration such as "25 s", "1 hour", "1 day 12 h", "01:30:00" or "PT90S"`)
	ErrUnitTwice  = errors.New("must be a duration in which each unit is given once")
	ErrTooFine    = errors.New("must be a whole number of microseconds")
	ErrTooLong    = errors.New("must be a duration of which each number has at most nine digits, or so")
)

// unit is a unit of an interval, with all its names.
type unit struct {
	names string
	Interval
}

const second = 1_000_000 // in microseconds

var (
	seconds = unit{"s sec secs second seconds", Interval{Micros: second}}
	minutes = unit{"m min mins minute minutes", Interval{Micros: 60 * second}}
	hours   = unit{"h hr hrs hour hours", Interval{Micros: 3600 * second}}
	daily   = unit{"d day days", Interval{Days: 1}}
	weeks   = unit{"w week weeks", Interval{Days: 7}}
	months  = unit{"mon mons month months", Interval{Months: 1}}
	years   = unit{"y yr yrs year years", Interval{Months: 12}}
)

// unitsByName has PostgreSQL's names of units.
var unitsByName = byName(
	unit{"us usec usecs usecond useconds microsecond microseconds", Interval{Micros: 1}},
	unit{"ms msec msecs msecond mseconds millisecond milliseconds", Interval{Micros: 1000}},
	seconds, minutes, hours, daily, weeks, months, years,
	unit{"dec decs decade decades", Interval{Months: 120}},
	unit{"c cent century centuries", Interval{Months: 1200}},
	unit{"mil mils millennia millennium", Interval{Months: 12000}},
)

func byName(units ...unit) map[string]Interval {
	names := map[string]Interval{}
	for _, u := range units {
		for name := range strings.FieldsSeq(u.names) {
			names[name] = u.Interval
		}
	}
	return names
}

// ParseInterval reads the text of an interval. It accepts the forms that people write, and refuses
// PostgreSQL's other forms. An accepted text means the same in PostgreSQL, to the microsecond,
// under every IntervalStyle. Months and longer units must be whole numbers.
func ParseInterval(text string) (Interval, error) {
	var parts []part
	var err error
	switch {
	case plain.MatchString(text):
		parts = []part{{text, seconds.Interval}}
	case strings.HasPrefix(text, "P"):
		parts, err = parseISO(text)
	default:
		parts, err = parseWords(strings.ToLower(text))
	}
	if err != nil {
		return Interval{}, err
	}
	return total(parts)
}

// part is an amount with its unit.
type part struct {
	amount string // digits, maybe with a decimal fraction
	unit   Interval
}

var (
	plain = regexp.MustCompile(`^\d+(\.\d+)?$`)
	words = regexp.MustCompile(`^(\d+(?:\.\d+)?)[ \t]*([a-z]+)[ \t]*`)
	glued = regexp.MustCompile(`^\d+[ \t]*[a-z]`)
	hms   = regexp.MustCompile(`^(\d+):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$`)
	iso   = regexp.MustCompile(`^P(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(\d+H)?(\d+M)?(\d+(?:\.\d+)?S)?)?$`)
)

// gluing has the units after which PostgreSQL needs no blank before the next number: 1h30m.
var gluing = map[string]bool{"d": true, "h": true, "m": true, "s": true, "y": true}

// parseISO reads ISO 8601 with designators, for example P1DT2H. Only seconds may have a fraction:
// PostgreSQL loses digits in fractions of larger units.
func parseISO(text string) ([]part, error) {
	m := iso.FindStringSubmatch(text)
	if m == nil || text == "P" || m[5] == "T" {
		return nil, ErrNoInterval
	}
	var parts []part
	for _, found := range []part{
		{m[1], years.Interval},
		{m[2], months.Interval},
		{m[3], weeks.Interval},
		{m[4], daily.Interval},
		{m[6], hours.Interval},
		{m[7], minutes.Interval},
		{m[8], seconds.Interval},
	} {
		if found.amount != "" {
			parts = append(parts, part{found.amount[:len(found.amount)-1], found.unit})
		}
	}
	return parts, nil
}

// parseWords reads amounts with units, for example 1 h 30 min. A clock time may come at the end, in
// place of hours, minutes and seconds.
func parseWords(text string) ([]part, error) {
	var parts []part
	for rest := text; rest != ""; {
		m := words.FindStringSubmatch(rest)
		if m == nil {
			return parseClock(rest, parts)
		}
		unit, ok := unitsByName[m[2]]
		if !ok {
			return nil, ErrNoInterval
		}
		parts = append(parts, part{m[1], unit})
		rest = rest[len(m[0]):]
		if rest != "" && strings.HasSuffix(m[0], m[2]) && (!gluing[m[2]] || !glued.MatchString(rest)) {
			return nil, ErrNoInterval
		}
	}
	return parts, nil
}

// parseClock reads a clock time. Only days and longer units may precede it.
func parseClock(text string, parts []part) ([]part, error) {
	m := hms.FindStringSubmatch(text)
	if m == nil {
		return nil, ErrNoInterval
	}
	for _, before := range parts {
		if before.unit.Micros > 0 {
			return nil, ErrNoInterval
		}
	}
	return append(parts, part{m[1], hours.Interval}, part{m[2], minutes.Interval},
		part{cmp.Or(m[3], "0"), seconds.Interval}), nil
}

// total adds up the parts. As in PostgreSQL, each unit may come once, and a fraction of a second in
// one form only.
func total(parts []part) (sum Interval, err error) {
	if len(parts) == 0 {
		return Interval{}, ErrNoInterval
	}
	given := map[Interval]int{}
	fraction := false
	for _, p := range parts {
		length, err := p.length()
		if err != nil {
			return Interval{}, err
		}
		sum.Months += length.Months
		sum.Days += length.Days
		sum.Micros += length.Micros
		given[p.unit]++
		fraction = fraction || p.unit == seconds.Interval && strings.Contains(p.amount, ".")
	}
	if len(given) < len(parts) || fraction && given[Interval{Micros: 1000}]+given[Interval{Micros: 1}] > 0 {
		return Interval{}, ErrUnitTwice
	}
	return sum, nil
}

// length returns the exact length, a whole number of microseconds or months. For these PostgreSQL
// gets the same result, though it calculates with floating point.
func (p part) length() (Interval, error) {
	whole, fraction, fractional := strings.Cut(p.amount, ".")
	fraction = strings.TrimRight(fraction, "0")
	millionths, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	n, err := strconv.ParseInt(whole, 10, 32) // older servers take no more
	switch {
	case len(fraction) > 6, fractional && p.unit.Months > 0, millionths*p.unit.Micros%1_000_000 > 0:
		return Interval{}, ErrTooFine
	case err != nil, n*p.unit.Months > math.MaxInt32, n*p.unit.Days > math.MaxInt32:
		return Interval{}, ErrTooLong
	}
	ofDays := millionths * p.unit.Days // whole days stay days, the rest becomes microseconds
	return Interval{
		Months: n * p.unit.Months,
		Days:   n*p.unit.Days + ofDays/1_000_000,
		Micros: n*p.unit.Micros + millionths*p.unit.Micros/1_000_000 + ofDays%1_000_000*86_400,
	}, nil
}
