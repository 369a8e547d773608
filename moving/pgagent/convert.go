package pgagent

import (
	"fmt"
	"strings"

	"pgtaskd/moving"
	"pgtaskd/remote"
)

// Choice selects the jobs to move: those whose steps run in Database. They go to Table, as SQL
// names it.
type Choice struct{ Database, Table string }

// Stop returns the statement that stops jobs in pgAgent.
func Stop(ids []string) string {
	return "UPDATE pgagent.pga_job SET jobenabled = false WHERE jobid IN (" + strings.Join(ids, ", ") + ");"
}

// Convert turns pgAgent's jobs into jobs of a task table: one for each schedule.
func Convert(p Place, jobs []Job, choice Choice) (converted []moving.Job, notes moving.Notes) {
	keys := moving.Keys{}
	for _, job := range jobs {
		notes.Job = fmt.Sprintf("job %d %q", job.ID, moving.Cut(job.Name))
		converted = append(converted, p.convert(job, choice, keys, &notes)...)
	}
	return converted, notes
}

func (p Place) convert(job Job, choice Choice, keys moving.Keys, notes *moving.Notes) []moving.Job {
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
		notes.Add("is not enabled: %s", moving.Parked)
		work.Plan = moving.Paused
	}
	work.From, work.Active = job.ID, "0" // pgAgent starts a missed run, however late
	return p.schedules(job, work, keys, notes)
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
