package pgagent

import (
	"cmp"
	"fmt"
	"time"

	"pgtaskd/moving"
	"pgtaskd/remote"
)

// Choice selects the jobs to move: those whose steps run in Database. They go to Table, as SQL
// names it.
type Choice struct{ Database, Table string }

// Convert turns pgAgent's jobs into jobs of a task table: one for each schedule.
func Convert(p Place, jobs []Job, choice Choice) (converted []moving.Job, notes moving.Notes) {
	keys := moving.Keys{}
	for _, job := range jobs {
		notes.Job = fmt.Sprintf("job %d %q", job.ID, moving.Cut(job.Name))
		converted = append(converted, p.convert(job, choice, keys, &notes)...)
	}
	return converted, notes
}

func (p Place) convert(job Job, choice Choice, keys moving.Keys, notes *moving.Notes) (converted []moving.Job) {
	if len(job.Schedules) == 0 {
		notes.Leave("it has no schedule that is enabled")
		return nil
	}
	work, ok := p.steps(job, choice, notes)
	if !ok {
		return nil
	}
	if job.Agent != "" {
		notes.Add("is for the agent of host %q alone: here the controller that leads runs it", job.Agent)
	}
	if !job.Enabled {
		notes.Add("is not enabled: it waits with plan infinity until you set its plan")
		work.Plan = moving.Paused
	}
	about := notes.Job
	for i, s := range job.Schedules {
		notes.Job = fmt.Sprintf("%s, schedule %q", about, moving.Cut(s.Name))
		j := work
		if !p.plan(s, &j, notes) {
			continue
		}
		otherwise := fmt.Sprintf("job %d", job.ID)
		if i > 0 {
			otherwise = s.Name
		}
		j.Key = keys.Key(job.Name, otherwise)
		converted = append(converted, j)
	}
	return converted
}

// never is the year that jobs.sql uses for all later times.
const never = 9999

// plan says when a schedule runs a job.
func (p Place) plan(s Schedule, j *moving.Job, notes *moving.Notes) bool {
	cron, beats, err := s.calendar().Cron(p.Zone, notes)
	if err != nil {
		notes.Leave("%s", err)
		return false
	}
	j.Cron = cron
	if s.End != nil {
		j.Until = s.End.In(beats.Zone()).Format(time.RFC3339)
		if s.End.Before(p.Now) {
			notes.Leave("it ended at %s", j.Until)
			return false
		}
	}
	if s.Start.After(p.Now) {
		start := s.Start.In(beats.Zone()).Format(time.RFC3339)
		first := beats.Next(s.Start.Add(-time.Second))
		if first.Year() >= never {
			notes.Leave("it begins at %s, and never runs", start)
			return false
		}
		j.Plan = cmp.Or(j.Plan, first.Format(time.RFC3339))
		notes.Add("begins at %s: its plan is the first time after that", start)
	}
	for _, e := range s.Exceptions {
		notes.Add("its exception %s is not carried over: have its SQL look whether it is to run", e)
	}
	return true
}

func (s Schedule) calendar() moving.Calendar {
	last := len(s.Monthdays) > 31 && s.Monthdays[31]
	return moving.Calendar{
		Minutes: set(s.Minutes, 0), Hours: set(s.Hours, 0), Days: set(s.Monthdays[:min(31, len(s.Monthdays))], 1), LastDay: last,
		Months: set(s.Months, 1), Weekdays: set(s.Weekdays, 0),
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

// steps makes the input of the job: the SQL of its only step, or a pipeline.
func (p Place) steps(job Job, choice Choice, notes *moving.Notes) (j moving.Job, ok bool) {
	var steps []moving.Step
	lost := 0
	for i, s := range job.Steps {
		step := moving.Step{Name: s.Name, SQL: s.Code, Ignore: s.OnError != "f"}
		why := ""
		if step.Remote, why = p.where(s, choice, len(job.Steps) == 1); why != "" {
			if len(job.Steps) == 1 {
				notes.Leave("%s", why)
				return j, false
			}
			lost++
			notes.Add("step %d %q is left out: %s", i+1, moving.Cut(s.Name), why)
			continue
		}
		if step.Remote != "" {
			notes.Add("step %d %q has its database in remote: unless the role is a superuser, remote must bring a password, or be a name under remotes", i+1, moving.Cut(s.Name))
		}
		steps = append(steps, step)
	}
	ok = j.Run(choice.Table, "step", steps, lost, notes)
	return j, ok
}

// where returns the remote of a step, or why it is left out.
func (p Place) where(s Step, choice Choice, alone bool) (connection, why string) {
	switch {
	case s.Kind != "s":
		return "", "it is a script of the shell, and tasks are SQL"
	case s.Connection != "":
		return s.Connection, moving.Unfit(s.Connection)
	case s.Database == choice.Database:
		return "", ""
	case alone:
		return "", fmt.Sprintf("it runs in database %q: move it to a task table there, with --database", s.Database)
	}
	return remote.Settings{"dbname": s.Database}.String(), ""
}
