package ask

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/human"
	"pgtaskd/remote"
	"pgtaskd/web/rows"
)

// Trouble is what is paused, what fails, and the task that has waited longest.
type Trouble struct {
	Groups  []PausedGroup `json:"paused_groups,omitempty"` // the first ones
	Paused  []Job         `json:"paused_jobs,omitempty"`
	Failing []Job         `json:"failing_jobs,omitempty"`
	Untold  []Untold      `json:"untold,omitempty"`
	Oldest  *Waiting      `json:"oldest,omitempty"`
}

// PausedGroup is a row of the table of groups that lets no task start.
type PausedGroup struct {
	Group string `json:"group"` // a name that ends in % means all groups that begin so
	By    string `json:"by,omitempty"`
	Note  string `json:"note,omitempty"`
	Until string `json:"until,omitempty"`
}

// Job is a job that makes no runs until somebody resumes it, or whose last run failed.
type Job struct {
	ID       int64  `json:"id"` // of its task that waits, is paused or runs, else of the last one
	Key      string `json:"key,omitempty"`
	State    string `json:"state"`
	Last     string `json:"last_state,omitempty"`
	Failures int32  `json:"failures,omitempty"` // in a row
	Error    string `json:"error,omitempty"`    // first line of the last one
	By       string `json:"by,omitempty"`       // who or what has paused it, if that is known
}

// Waiting is a due task that waits.
type Waiting struct {
	ID    int64  `json:"id"`
	Group string `json:"group"`
	Why   string `json:"why,omitempty"`
}

// Untold is a run that waits until its remote says how its transaction has ended.
type Untold struct {
	ID     int64   `json:"id"`
	Remote string  `json:"remote"`
	Waits  float64 `json:"seconds"`
}

// shownMost is how many groups, and jobs of each kind, a status shows people.
const shownMost = 20

// pausedGroups reads the rows that pause groups.
func (b *table) pausedGroups(ctx context.Context, st *Status) error {
	if !b.Has("group") {
		return nil
	}
	found, err := b.conn.Query(ctx, b.queries.Text("paused"), rows.JobsMost)
	if err != nil {
		return err
	}
	st.Groups, err = pgx.CollectRows(found, pgx.RowToStructByPos[PausedGroup])
	for i := range st.Groups {
		st.Groups[i].Until = human.ISO(st.Groups[i].Until)
	}
	return err
}

// jobs reads the jobs that are paused, and those that fail. Jobs of a paused group do not count.
func (b *table) jobs(ctx context.Context, st *Status) error {
	all, _, _, err := b.Jobs(ctx, rows.Hidden{})
	for _, j := range all {
		job := Job{ID: j.ID, State: j.State, Failures: j.Failures}
		if j.Key != nil {
			job.Key = *j.Key
		}
		if j.Error != nil {
			job.Error = *j.Error
		}
		if j.LastState != nil {
			job.Last = *j.LastState
		}
		switch {
		case j.State == "STOP" && j.Paused:
			if j.PausedBy != nil {
				job.By = *j.PausedBy
			}
			st.Paused = append(st.Paused, job)
		case j.Failing() && !(j.Ended() && j.Expression == nil && j.Failures < 2): // else it is only a task that failed
			st.Failing = append(st.Failing, job)
		}
	}
	return err
}

// untold reads the runs that wait for their remote.
func (b *table) untold(ctx context.Context, st *Status) error {
	found, err := b.conn.Query(ctx, b.queries.Text("untold"), lookedAt, rows.JobsMost)
	if err != nil {
		return err
	}
	st.Untold, err = pgx.CollectRows(found, pgx.RowToStructByPos[Untold])
	for i := range st.Untold {
		st.Untold[i].Remote = remote.Shown(st.Untold[i].Remote)
	}
	return err
}

func (g PausedGroup) String() string {
	text := "group " + g.Group + " is paused"
	if g.By != "" {
		text += " by " + g.By
	}
	if g.Until != "" {
		text += " until " + brief(g.Until)
	}
	if g.Note != "" {
		text += " (" + g.Note + ")"
	}
	return text + "; pgtaskd resume " + quoted(g.Group) + " lets it go on"
}

// name returns how people call a job.
func (j Job) name() string {
	if j.Key == "" {
		return fmt.Sprint("job of task ", j.ID)
	}
	return "job " + j.Key
}

// paused says how a paused job goes on.
func (j Job) paused() string {
	text := j.name() + " is paused"
	if strings.HasPrefix(j.By, "paused ") { // max_failures says why
		text = j.name() + " is " + j.By
	} else if j.By != "" {
		text += " by " + j.By
	}
	text += fmt.Sprintf("; pgtaskd act resume %d lets it go on", j.ID)
	if j.Error != "" && j.Failures > 0 {
		text += "; its last error: " + j.Error
	}
	return text
}

// failing says how a job fails.
func (j Job) failing() string {
	text := " fails"
	switch {
	case j.Last == "GONE":
		text = " was not run"
	case j.State == "DONE":
		text = " has ended"
	case j.Failures == 0 && j.State == "PLAN":
		text = " fails, and is tried again"
	case j.Failures == 1:
		text = " has failed once"
	case j.Failures > 1:
		text = fmt.Sprintf(" has failed %d times in a row", j.Failures)
	}
	return strings.TrimSuffix(j.name()+text+": "+j.Error, ": ")
}

// lines returns the lines of a target's trouble.
func (st *Status) lines() (lines []string) {
	for _, g := range st.Groups[:min(len(st.Groups), shownMost)] {
		lines = append(lines, g.String())
	}
	lines = append(lines, rest(len(st.Groups), "groups are paused")...)
	for _, j := range st.Paused[:min(len(st.Paused), shownMost)] {
		lines = append(lines, j.paused())
	}
	lines = append(lines, rest(len(st.Paused), "jobs are paused")...)
	for _, j := range st.Failing[:min(len(st.Failing), shownMost)] {
		lines = append(lines, j.failing())
	}
	lines = append(lines, rest(len(st.Failing), "jobs fail")...)
	for _, u := range st.Untold[:min(len(st.Untold), shownMost)] {
		lines = append(lines, fmt.Sprintf("task %d has waited for %s until its remote says how it ended: %s", u.ID, span(u.Waits), u.Remote))
	}
	lines = append(lines, rest(len(st.Untold), "tasks wait for their remote")...)
	if o := st.Oldest; o != nil {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("task %d of group %s has waited longest, for %s: %s", o.ID, o.Group, span(st.Tasks.Waits), o.Why), ": "))
	}
	return lines
}

// rest says how many more there are than are shown.
func rest(n int, are string) []string {
	if n <= shownMost {
		return nil
	}
	return []string{fmt.Sprintf("%d more %s: pgtaskd top shows them", n-shownMost, are)}
}

// quoted makes one word for a shell of a name.
func quoted(name string) string {
	if plainWord.MatchString(name) {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\w.%+:@][\w.%+:@-]*$`)
