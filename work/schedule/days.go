package schedule

import "time"

// days is the set of an expression's days.
type days struct {
	dom, month, dow uint64
	last            bool // the last day of the month, besides dom
	either          bool // dom or dow is enough, as neither begins with *
}

// After a cycle of 400 years the calendar repeats itself, with the same days of the week.
const (
	cycleMonths = 400 * 12
	cycleDays   = 146_097
)

// ahead is the set of those days that are left of a day's month, that day's own bit first, and how
// many days are left in all. Days are counted from 1970.
func (d days) ahead(n int64) (set uint64, left int64) {
	_, month, day, length := date(n)
	left = length - day + 1
	if d.month>>month&1 == 0 {
		return 0, left
	}
	dom := d.dom >> day
	if d.last {
		dom |= 1 << (left - 1)
	}
	const everyWeek = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35
	set = d.dow & 127 * everyWeek >> weekday(n)
	if d.either {
		set |= dom
	} else {
		set &= dom
	}
	return set & (1<<left - 1), left
}

// has tells whether a day is in the set.
func (d days) has(n int64) bool {
	set, _ := d.ahead(n)
	return set&1 == 1
}

// first is the first day of the set from one day on, and before another.
func (d days) first(from, before int64) (int64, bool) {
	for from < before {
		set, left := d.ahead(from)
		if set != 0 {
			from += member(set, 0)
			return from, from < before
		}
		from += left
	}
	return 0, false
}

// count is the number of days of the set from one day on, and before another.
func (d days) count(from, before int64) int64 {
	n := int64(0)
	if cycles := (before - from) / cycleDays; cycles > 0 {
		n = d.count(from, from+cycleDays-1) + d.count(from+cycleDays-1, from+cycleDays)
		n, from = cycles*n, from+cycles*cycleDays
	}
	for from < before {
		set, left := d.ahead(from)
		n += int64(below(set, min(left, before-from)))
		from += left
	}
	return n
}

// nth is the n-th day of the set from one day on, counted from 1.
func (d days) nth(from, n int64) int64 {
	whole := n // what was left of n at the first end of a month
	for month := 0; ; month++ {
		set, left := d.ahead(from)
		size := int64(below(set, left))
		if n <= size {
			return from + member(set, n-1)
		}
		n, from = n-size, from+left
		switch month {
		case 0:
			whole = n
		case cycleMonths:
			cycles := (n - 1) / (whole - n)
			n, from = n-cycles*(whole-n), from+cycles*cycleDays
		}
	}
}

// come tells whether there is a day: every date falls on every day of the week some time.
func (d days) come() bool {
	if d.either || d.last {
		return true
	}
	for month := time.January; month <= time.December; month++ {
		if d.month>>month&1 == 1 && d.dom&(2<<monthLength(2000, int64(month))-1) != 0 {
			return true
		}
	}
	return false
}

// weekday is that of a day counted from 1970, which began on a Thursday.
func weekday(n int64) int64 { return floorMod(n+4, 7) }

// date is that of a day counted from 1970, with the length of its month. Years are counted from
// March inside, so that a leap day is the last.
func date(n int64) (year, month, day, length int64) {
	n += 719468 // from the first of March of the year 0
	era := floorDiv(n, 146097)
	of := n - era*146097
	y := (of - of/1460 + of/36524 - of/146096) / 365
	of -= 365*y + y/4 - y/100
	m := (5*of + 2) / 153
	year, month, day = era*400+y, m+3, of-(153*m+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day, monthLength(year, month)
}

// dayNumber counts the days of a date from 1970.
func dayNumber(year, month, day int64) int64 {
	if month <= 2 {
		year, month = year-1, month+12
	}
	era := floorDiv(year, 400)
	y := year - era*400
	return era*146097 + y*365 + y/4 - y/100 + (153*(month-3)+2)/5 + day - 1 - 719468
}

func monthLength(year, month int64) int64 {
	switch {
	case month == 2 && (year%4 != 0 || year%100 == 0 && year%400 != 0):
		return 28
	case month == 2:
		return 29
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

func floorDiv(a, b int64) int64 { return (a - floorMod(a, b)) / b }

func floorMod(a, b int64) int64 { return (a%b + b) % b }
