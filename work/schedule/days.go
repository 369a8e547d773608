package schedule

import "time"

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
	set = d.dow * everyWeek >> today.Weekday()
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
