package moving

import "slices"

// fields returns the fields of a calendar, the days of the month at daysField.
func (c *Calendar) fields() [5]*[]int {
	return [...]*[]int{&c.Minutes, &c.Hours, &c.Months, &c.Days, &c.Weekdays}
}

// ranges are the first and the last number of each field.
var ranges = [5][2]int{{0, 59}, {0, 23}, {1, 12}, {1, LastDay}, {0, 6}}

const daysField = 3

// Without returns calendars that have the times of c that other lacks, each time once. meet is
// whether they share any; ok is false if cron cannot express the rest.
func (c Calendar) Without(other Calendar) (rest []Calendar, meet, ok bool) {
	ok = true
	for i, field := range c.fields() {
		both, only, theirs := []int(nil), []int(nil), all(*other.fields()[i], ranges[i])
		for _, n := range all(*field, ranges[i]) {
			if slices.Contains(theirs, n) {
				both = append(both, n)
			} else {
				only = append(only, n)
			}
		}
		if i == daysField && (unclear(only, theirs) || unclear(theirs, only)) {
			ok = false
			continue
		}
		if len(both) == 0 {
			return nil, false, true
		}
		if len(only) > 0 {
			part := c // its fields up to this one have what both have
			*part.fields()[i] = only
			_, _, err := part.Cron("", new(Notes))
			rest, ok = append(rest, part), ok && err == nil
		}
		*field = both
	}
	return rest, true, ok
}

// all returns the numbers of a field, all of its range if there are none.
func all(numbers []int, limits [2]int) []int {
	if len(numbers) > 0 {
		return numbers
	}
	for n := limits[0]; n <= limits[1]; n++ {
		numbers = append(numbers, n)
	}
	return numbers
}

// unclear reports whether the last day in a is one of the days in b in some months.
func unclear(a, b []int) bool {
	return slices.Contains(a, LastDay) && slices.ContainsFunc(b, func(day int) bool { return day >= 28 && day < LastDay })
}
