package rows

import (
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/schedule"
)

// plans returns when a job will run before end, as the leader would plan it if each run took as
// long as usual: at most so many times.
func (j *Job) plans(now, end time.Time, usual time.Duration, most int) (plans []time.Time) {
	beats := j.schedule()
	if beats == nil || j.ended || j.Paused {
		return nil
	}
	var until time.Time
	if finite(j.Until) {
		until = j.Until.Time
	}
	at, found := j.NextRun.Time, true
	switch {
	case finite(j.NextRun):
	case j.NextRun.Valid: // infinity: parked
		return nil
	case j.State == "PLAN": // the leader has yet to plan it
		at = beats.Next(now)
	default:
		over := now
		if finite(j.LastStart) {
			over = later(now, j.LastStart.Time.Add(usual))
		}
		at, found = j.following(beats, over, until)
	}
	for found && !at.After(end) && len(plans) < most {
		at = later(at, now)
		plans = append(plans, at)
		if !j.Overlap {
			at = at.Add(usual)
		}
		at, found = j.following(beats, at, until)
	}
	return plans
}

// following returns the first beat after a run that is over at a time.
func (j *Job) following(beats *schedule.Schedule, over, until time.Time) (time.Time, bool) {
	from := over
	if j.Cron == nil && !j.Drift && finite(j.Beat) && j.Beat.Time.Before(over) {
		from = j.Beat.Time
	}
	next, _, found := beats.Missed(from, over, until, 0)
	return next, found
}

// schedule returns the beats of a job, or nil if it has none that can be computed.
func (j *Job) schedule() *schedule.Schedule {
	if !j.repeat() || j.Zone == nil {
		return nil
	}
	zone, err := schedule.LoadZone(*j.Zone)
	if err != nil {
		return nil
	}
	expression := "@every " + every(j.Repeat)
	if j.Cron != nil {
		expression = *j.Cron
	}
	beats, err := schedule.Parse(expression, zone)
	if err != nil {
		return nil
	}
	return beats
}

// every writes an interval as the schedule reads it.
func every(i pgtype.Interval) (text string) {
	for _, part := range []struct {
		n    int64
		unit string
	}{{int64(i.Months), "mon"}, {int64(i.Days), "d"}, {i.Microseconds / 1e6, "s"}, {i.Microseconds % 1e6, "us"}} {
		if part.n > 0 {
			text += fmt.Sprint(part.n, " ", part.unit, " ")
		}
	}
	return text
}

func later(x, y time.Time) time.Time {
	if x.After(y) {
		return x
	}
	return y
}
