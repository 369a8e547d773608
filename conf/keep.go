package conf

import (
	"pgtaskd/work/schedule"
	"pgtaskd/work/target"
)

// longestKept bounds each part of a time in keep: the server counts back from now, to a date that
// it knows.
const longestKept = 1000 // years

// keep reads how long ended tasks are kept, by state. Months and years are the calendar's.
func (r *reader) keep(into *target.Keep) func(value) {
	return func(v value) {
		known := keys{}
		for _, state := range target.Kept {
			known[state] = r.age(func(age schedule.Interval) {
				if *into == nil {
					*into = target.Keep{}
				}
				(*into)[state] = age
			})
		}
		r.object(v, known)
	}
}

// age reads how old something may become.
func (r *reader) age(set func(schedule.Interval)) func(value) {
	return func(v value) {
		if v.kind != text {
			r.fault(v, "%v, not %s", schedule.ErrNoInterval, shown(v))
			return
		}
		age, err := schedule.ParseInterval(v.text)
		switch {
		case err != nil:
			r.fault(v, "%v, not %s", err, shown(v))
		case age.Months > longestKept*12, age.Days > longestKept*365, age.Micros > longestKept*365*day.Microseconds():
			r.fault(v, "must be at most %d years, not %s", longestKept, shown(v))
		default:
			set(age)
		}
	}
}
