package pgagent

import (
	"fmt"
	"time"

	"pgtaskd/moving"
	"pgtaskd/remote"
	"pgtaskd/work/schedule"
)

// Choice says which jobs are moved: those whose steps run in that database. Table is where they go,
// as SQL names it.
type Choice struct{ Database, Table string }

// Convert makes jobs of a task table of jobs: one for each schedule.
func Convert(p Place, jobs []Job, choice Choice) (converted []moving.Job, notes []moving.Note) {
	keys := moving.Keys{}
	for _, job := range jobs {
		about := moving.Notes{Job: fmt.Sprintf("job %d %q", job.ID, moving.Cut(job.Name))}
		converted = append(converted, p.convert(job, choice, keys, &about)...)
		notes = append(notes, about.All...)
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
	for i, s := range job.Schedules {
		j := work
		when := *notes
		when.Job, when.All = fmt.Sprintf("%s, schedule %q", notes.Job, moving.Cut(s.Name)), nil
		if p.plan(s, &j, &when) {
			name, otherwise := job.Name, fmt.Sprintf("job %d", job.ID)
			if i > 0 {
				otherwise = s.Name
			}
			j.Key = keys.Key(name, otherwise)
			converted = append(converted, j)
		}
		notes.All = append(notes.All, when.All...)
	}
	return converted
}

// never is the year that jobs.sql gives all later times.
const never = 9999

// plan is when a schedule has a job run.
func (p Place) plan(s Schedule, j *moving.Job, notes *moving.Notes) bool {
	zone := p.Zone
	location, err := schedule.LoadZone(zone)
	if err != nil {
		notes.Add("the time zone %q is no name of the tz database: it runs in that of the target", zone)
		zone, location = "", time.UTC
	}
	j.Cron, err = s.calendar().Cron(zone)
	if err != nil {
		notes.Leave("%s", err)
		return false
	}
	if s.End != nil {
		end := s.End.In(location).Format(time.RFC3339)
		if s.End.Before(p.Now) {
			notes.Leave("it ended at %s", end)
			return false
		}
		j.Until = end
	}
	if s.Start.After(p.Now) {
		start := s.Start.In(location).Format(time.RFC3339)
		if j.Plan == "" {
			expression, err := schedule.Parse(j.Cron, location)
			if err != nil {
				notes.Leave("%s", err)
				return false
			}
			first := expression.Next(s.Start.Add(-time.Second))
			if first.Year() >= never {
				notes.Leave("it begins at %s, and never runs", start)
				return false
			}
			j.Plan = first.Format(time.RFC3339)
		}
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

// set are the numbers for which an array has true.
func set(values []bool, least int) (numbers []int) {
	for i, fits := range values {
		if fits {
			numbers = append(numbers, i+least)
		}
	}
	return numbers
}

// steps make the input of the job: the SQL of its one step, or tasks one after the other.
func (p Place) steps(job Job, choice Choice, notes *moving.Notes) (j moving.Job, ok bool) {
	if len(job.Steps) == 0 {
		notes.Leave("it has no step that is enabled")
		return j, false
	}
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
	if len(steps) == 0 {
		notes.Leave("none of its steps can be carried over")
		return j, false
	}
	if lost > 0 {
		notes.Add("waits with plan infinity, as it lacks %d of its steps: put something in their place, and set its plan", lost)
		j.Plan = moving.Paused
	}
	if len(steps) == 1 {
		j.Input, j.Remote = steps[0].SQL, steps[0].Remote
	} else {
		j.Input = moving.Pipeline(choice.Table, steps)
	}
	return j, true
}

// where is the remote of a step, or why it is left out.
func (p Place) where(s Step, choice Choice, alone bool) (connection, why string) {
	switch {
	case s.Kind != "s":
		return "", "it is a script of the shell, and tasks are SQL"
	case s.Connection != "":
		settings, err := remote.Parse(s.Connection)
		switch {
		case err != nil:
			return "", "its connection string does not parse"
		case settings.Secret():
			return "", "its connection string holds a password: give it a name under remotes in the configuration, and the task that name as remote"
		}
		return s.Connection, ""
	case s.Database == choice.Database:
		return "", ""
	case alone:
		return "", fmt.Sprintf("it runs in database %q: move it to a task table there, with --database", s.Database)
	}
	return remote.Settings{"dbname": s.Database}.String(), ""
}
