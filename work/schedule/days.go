package schedule

import "time"

// days is the set of an expression's days.
type days struct {
	dom, month, dow uint64
	last            bool // the last day of the month, besides dom
	either          bool // dom or dow is enough, as neither begins with *
}

// has tells whether a day, counted from 1970, is in the set.
func (d days) has(n int64) bool {
	_, month, day, length := date(n)
	if d.month>>month&1 == 0 {
		return false
	}
	dom := d.dom>>day&1 == 1 || d.last && day == length
	dow := d.dow>>weekday(n)&1 == 1
	if d.either {
		return dom || dow
	}
	return dom && dow
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
