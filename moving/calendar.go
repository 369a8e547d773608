package moving

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgtaskd/work/schedule"
)

// Calendar says when a job runs: for each field its numbers, in ascending order; none: any. All
// fields must match.
type Calendar struct {
	Minutes, Hours, Months []int
	Days                   []int // of the month; LastDay: its last one
	Weekdays               []int // 0: Sunday
}

// LastDay is the number of the last day of a month, whichever that is.
const LastDay = 32

// errBoth is the error of a calendar that cron cannot express.
var errBoth = errors.New("it runs on days of the month that are certain days of the week as well, and cron takes either for enough: " +
	"let its SQL look which day it is")

// Cron returns the expression, in that time zone if the tz database has it, and its meaning.
func (c Calendar) Cron(zone string, notes *Notes) (cron string, s *schedule.Schedule, err error) {
	if _, err := schedule.LoadZone(zone); err != nil {
		notes.Add("the time zone %q is no name of the tz database: it runs in that of the target", zone)
		zone = ""
	}
	monthdays, weekdays := days(c.Days), list(c.Weekdays, 0, 6)
	if monthdays != "*" && weekdays != "*" {
		// Both must match. For cron either is enough, unless a field begins with *. A step as long as
		// the field leaves only its first number: */31 is the 1st, and */7 is Sunday.
		switch {
		case slices.Contains(c.Days, 1):
			monthdays = joined("*/31", days(c.Days[1:]))
		case slices.Contains(c.Weekdays, 0):
			weekdays = joined("*/7", list(c.Weekdays[1:], 0, 6))
		default:
			return "", nil, errBoth
		}
	}
	cron = fmt.Sprintf("%s %s %s %s %s", list(c.Minutes, 0, 59), list(c.Hours, 0, 23), monthdays, list(c.Months, 1, 12), weekdays)
	if zone != "" {
		cron = "CRON_TZ=" + zone + " " + cron
	}
	s, err = schedule.Parse(cron, time.UTC)
	return cron, s, err
}

// days writes days of the month.
func days(numbers []int) string {
	dated, last := slices.BinarySearch(numbers, LastDay)
	if last && dated < 31 {
		return joined(list(numbers[:dated], 1, 31), "L")
	}
	return list(numbers[:dated], 1, 31)
}

// joined joins lists. "*" is an empty one.
func joined(lists ...string) string {
	return strings.Join(slices.DeleteFunc(lists, func(l string) bool { return l == "*" }), ",")
}

// list writes the numbers of a cron field; "*": none, or all.
func list(numbers []int, least, most int) string {
	if len(numbers) == 0 || len(numbers) == most-least+1 {
		return "*"
	}
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		switch end - i {
		case 0:
			parts = append(parts, fmt.Sprint(numbers[i]))
		case 1:
			parts = append(parts, fmt.Sprint(numbers[i]), fmt.Sprint(numbers[end]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[end]))
		}
		i = end + 1
	}
	return strings.Join(parts, ",")
}
