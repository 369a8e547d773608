package conf

import (
	"errors"
	"math"
	"time"

	"pgtaskd/work/schedule"
)

const day = 24 * time.Hour

var (
	errElastic = errors.New("must be a duration of fixed length; that of months and years depends on the calendar")
	errTooLong = errors.New("must be shorter than 290 years")
)

// parseInterval reads a duration as PostgreSQL reads an interval. A day has 24 hours.
func parseInterval(s string) (time.Duration, error) {
	interval, err := schedule.ParseInterval(s)
	switch {
	case errors.Is(err, schedule.ErrTooLong):
		return 0, errTooLong
	case err != nil:
		return 0, err
	case interval.Months > 0:
		return 0, errElastic
	case interval.Days > int64(math.MaxInt64/day)-1 || interval.Micros > math.MaxInt64/1000-interval.Days*day.Microseconds():
		return 0, errTooLong
	}
	return time.Duration(interval.Days)*day + time.Duration(interval.Micros)*time.Microsecond, nil
}
