package pgagent

import (
	"cmp"
	"fmt"
	"time"

	"pgtaskd/moving"
)

// schedules returns the jobs that do a job's work at the times of its schedules. pgAgent never runs
// a job beside itself: they share a group.
func (p Place) schedules(job Job, work moving.Job, keys moving.Keys, notes *moving.Notes) (jobs []moving.Job) {
	about, lost, otherwise := notes.Job, 0, fmt.Sprintf("job %d", job.ID)
	var earlier []Schedule
	for _, s := range job.Schedules {
		notes.Job = fmt.Sprintf("%s, schedule %q", about, moving.Cut(s.Name))
		planned, fits := p.plan(s, earlier, work, notes)
		switch {
		case !fits:
			lost++
		case planned != nil:
			earlier = append(earlier, s)
		}
		for _, j := range planned {
			if len(jobs) > 0 {
				otherwise = s.Name
			}
			j.Key = keys.Key(job.Name, otherwise)
			jobs = append(jobs, j)
			jobs[len(jobs)-1].Group = jobs[0].Key
		}
	}
	notes.Job = about
	if lost > 0 && len(jobs) > 0 {
		notes.Add(moving.Lacks, lost, "schedule")
		for i := range jobs {
			jobs[i].Plan = moving.Paused
		}
	}
	return jobs
}

// never is the year that jobs.sql uses for all later times.
const never = 9999

// plan returns jobs that do the work at those times of a schedule that earlier ones lack; nil: it
// is over. fits is false if cron cannot express it.
func (p Place) plan(s Schedule, earlier []Schedule, work moving.Job, notes *moving.Notes) (jobs []moving.Job, fits bool) {
	_, beats, err := s.calendar().Cron(p.Zone, notes)
	if err != nil {
		notes.Leave("%s", err)
		return nil, false
	}
	if s.End != nil {
		work.Until = s.End.In(beats.Zone()).Format(time.RFC3339)
		if s.End.Before(p.Now) {
			notes.Leave("it ended at %s", work.Until)
			return nil, true
		}
	}
	if s.Start.After(p.Now) {
		start := s.Start.In(beats.Zone()).Format(time.RFC3339)
		if beats.Next(s.Start.Add(-time.Second)).Year() >= never {
			notes.Leave("it begins at %s, and never runs", start)
			return nil, true
		}
		notes.Add("begins at %s: its plan is the first time after that", start)
	}
	for _, e := range s.Exceptions {
		notes.Add("its exception %s is not carried over: have its SQL look whether it is to run", e)
	}
	jobs = []moving.Job{}
	for _, calendar := range p.rest(s, earlier, notes) {
		j := work
		j.Cron, beats, _ = calendar.Cron(p.Zone, new(moving.Notes))
		if s.Start.After(p.Now) {
			j.Plan = cmp.Or(j.Plan, beats.Next(s.Start.Add(-time.Second)).Format(time.RFC3339))
		}
		jobs = append(jobs, j)
	}
	return jobs, true
}

// rest returns the times of a schedule that earlier ones lack: where schedules meet, pgAgent runs
// the job once.
func (p Place) rest(s Schedule, earlier []Schedule, notes *moving.Notes) []moving.Calendar {
	rest := []moving.Calendar{s.calendar()}
	for _, e := range earlier {
		var less []moving.Calendar
		met := false
		for _, c := range rest {
			parts, meet, ok := c.Without(e.calendar())
			switch {
			case !meet:
				parts = []moving.Calendar{c}
			case !ok || !p.covers(e, s):
				parts, met = []moving.Calendar{c}, true
			}
			less = append(less, parts...)
		}
		if met {
			notes.Add("where it meets schedule %q, pgAgent runs the job once: here it runs twice, one run after the other", moving.Cut(e.Name))
		}
		rest = less
	}
	if len(rest) == 0 {
		notes.Add("becomes no job: earlier schedules have all its times")
	}
	return rest
}

// covers reports whether a schedule holds from now on whenever the other does.
func (p Place) covers(s, other Schedule) bool {
	return (!s.Start.After(p.Now) || !s.Start.After(other.Start)) &&
		(s.End == nil || other.End != nil && !other.End.After(*s.End))
}

func (s Schedule) calendar() moving.Calendar {
	return moving.Calendar{
		Minutes: set(s.Minutes, 0), Hours: set(s.Hours, 0), Days: set(s.Monthdays, 1), Months: set(s.Months, 1), Weekdays: set(s.Weekdays, 0),
	}
}

// set returns the numbers for which an array has true.
func set(values []bool, least int) (numbers []int) {
	for i, fits := range values {
		if fits {
			numbers = append(numbers, i+least)
		}
	}
	return numbers
}
