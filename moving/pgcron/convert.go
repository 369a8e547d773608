package pgcron

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"time"

	"pgtaskd/moving"
	"pgtaskd/work/schedule"
)

// Choice selects the jobs to move: those of one role in one database.
type Choice struct{ Database, User string }

// Stop returns the statements that stop jobs in pg_cron.
func Stop(ids []string) string {
	return "SELECT cron.alter_job(" + strings.Join(ids, ", active := false);\nSELECT cron.alter_job(") + ", active := false);"
}

// Convert turns pg_cron's jobs into jobs of a task table.
func Convert(p Place, jobs []Job, choice Choice) (converted []moving.Job, notes moving.Notes) {
	for _, job := range jobs {
		notes.Job = fmt.Sprintf("job %d %q, schedule %q", job.ID, job.Name, moving.Cut(job.Schedule))
		if j, ok := p.convert(job, choice, &notes); ok {
			converted = append(converted, j)
		}
	}
	return converted, notes
}

func (p Place) convert(job Job, choice Choice, notes *moving.Notes) (j moving.Job, ok bool) {
	if why := p.elsewhere(job, choice); why != "" {
		notes.Leave("%s", why)
		return j, false
	}
	cron, err := p.cron(job.Schedule, notes)
	if err != nil {
		notes.Leave("%s", err)
		return j, false
	}
	j = moving.Job{From: job.ID, Key: cmp.Or(job.Name, fmt.Sprintf("pg_cron job %d", job.ID)), Cron: cron, Input: job.Command}
	if !job.Active {
		notes.Add("is inactive: %s", moving.Parked)
		j.Plan = moving.Paused
	}
	return j, true
}

// elsewhere says why a job is not moved; "" if it is.
func (p Place) elsewhere(job Job, choice Choice) string {
	switch own := job.Node == "" || job.Node == "localhost" || job.Node == "127.0.0.1" || job.Node == "::1" || job.Node == p.Host || strings.HasPrefix(job.Node, "/"); {
	case !own || job.Port != p.Port && job.Port != 0:
		return fmt.Sprintf("it runs on another server (%s, port %d): move it to a task table there, or name that server in remote", job.Node, job.Port)
	case job.Database != choice.Database:
		return fmt.Sprintf("it runs in database %q: move it to a task table there, with --database", job.Database)
	case job.User != choice.User:
		return fmt.Sprintf("it runs as role %q: tasks run as the role that serves the table; move it to a table that this role serves, with --user", job.User)
	}
	return ""
}

var seconds = regexp.MustCompile(`^ *([0-9]+) +seconds? *$`)

// cron translates a schedule. schedule.Parse checks the result.
func (p Place) cron(text string, notes *moving.Notes) (cron string, err error) {
	zone := cmp.Or(p.Zone, "GMT")
	if _, err := schedule.LoadZone(zone); err != nil {
		return "", fmt.Errorf("cron.timezone %q %w", zone, err)
	}
	if m := seconds.FindStringSubmatch(strings.ToLower(text)); m != nil {
		cron = "@every " + m[1] + " s"
	} else {
		fields := strings.Fields(text)
		if len(fields) > 5 && !strings.HasPrefix(fields[0], "@") {
			notes.Add("what follows the five fields is dropped, as pg_cron does: %q", strings.Join(fields[5:], " "))
			fields = fields[:5]
		}
		if len(fields) == 5 {
			fields[2] = lastDay.ReplaceAllString(fields[2], "${1}L${2}")
		}
		cron = "CRON_TZ=" + zone + " " + strings.Join(fields, " ")
	}
	_, err = schedule.Parse(cron, time.UTC)
	return cron, err
}

// lastDay matches pg_cron's $, the last day of a month, in a list of days.
var lastDay = regexp.MustCompile(`(^|,)\$(,|$)`)
