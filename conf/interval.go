package conf

import (
	"errors"
	"fmt"
	"math"
	"time"

	"pgtaskd/work/schedule"
	"pgtaskd/work/target"
)

const day = 24 * time.Hour

// interval reads a duration in PostgreSQL's syntax for intervals.
func interval(v value) (schedule.Interval, error) {
	if v.kind != text {
		return schedule.Interval{}, schedule.ErrNoInterval
	}
	return schedule.ParseInterval(v.text)
}

var (
	errElastic = errors.New("must be a duration of fixed length; that of months and years depends on the calendar")
	errTooLong = errors.New("must be shorter than 290 years")
)

// duration reads a duration of fixed length, with 24 hours a day.
func duration(least time.Duration) func(value) (time.Duration, error) {
	return func(v value) (time.Duration, error) {
		i, err := interval(v)
		d := time.Duration(i.Days)*day + time.Duration(i.Micros)*time.Microsecond
		switch {
		case errors.Is(err, schedule.ErrTooLong):
			err = errTooLong
		case err != nil:
		case i.Months > 0:
			err = errElastic
		case i.Days > int64(math.MaxInt64/day)-1 || i.Micros > math.MaxInt64/1000-i.Days*day.Microseconds():
			err = errTooLong
		case d < least:
			err = fmt.Errorf("must be at least %d ms", least.Milliseconds())
		}
		if err != nil {
			return 0, fmt.Errorf("%w, not %s", err, shown(v))
		}
		return d, nil
	}
}

// longestKept limits each part of a time in keep: the server subtracts that time from now, and the
// result must be a date that it knows.
const longestKept = 1000 // years

// keep reads how long ended tasks of each state are kept. Months and years follow the calendar.
func (r *reader) keep(v value) target.Keep {
	keep, known := target.Keep{}, keys{}
	for _, state := range target.Kept {
		known[state] = func(v value) {
			age, err := interval(v)
			switch {
			case err != nil:
				r.fault(v, "%v, not %s", err, shown(v))
			case age.Months > longestKept*12, age.Days > longestKept*365, age.Micros > longestKept*365*day.Microseconds():
				r.fault(v, "must be at most %d years, not %s", longestKept, shown(v))
			default:
				keep[state] = age
			}
		}
	}
	r.object(v, known)
	return keep
}
