package schedule

import (
	"math/bits"
	"time"
)

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
