package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/human"
)

// Limits of what is read for the jobs of one table.
const (
	JobsMost   = 500
	NewestRows = 10_000 // looked at for tasks that have ended
	RunsMost   = 30     // of each job
	lateAfter  = 2      // seconds: less is the usual way of a task
	actsMost   = 5000   // looked at for who has paused a job
	groupsMost = 1000   // rows that pause groups
)

// jobRow is a row of jobs.sql.
type jobRow struct {
	ID       int64              `db:"id"`
	Key      *string            `db:"key"`
	Group    string             `db:"group"`
	State    string             `db:"state"`
	Period   string             `db:"period"`
	NextRun  pgtype.Timestamptz `db:"next_run"`
	Paused   bool               `db:"paused"`
	GaveUp   bool               `db:"gave_up"` // max_failures has paused it
	Ended    bool               `db:"ended"`
	Late     float64            `db:"late"`
	Failures int32              `db:"failures"`
	Error    *string            `db:"error"`
	Runs     []byte             `db:"runs"`
	Larger   bool               `db:"larger"` // the table has rows that were not looked at
	repeats
}

// jobRun is a row of job_runs.sql and key_runs.sql.
type jobRun struct {
	Head  int64              `db:"head"`
	Key   *string            `db:"key"`
	ID    int64              `db:"id"`
	Start pgtype.Timestamptz `db:"start"`
	Stop  pgtype.Timestamptz `db:"stop"`
	State string             `db:"state"`
	Error *string            `db:"error"`
}

// Jobs returns the jobs of the table, trouble first. all is false if there may be more, and whole if
// the table has more rows than are looked at for jobs that have ended.
func (b *Table) Jobs(ctx context.Context, h Hidden) (jobs []Job, all, whole bool, err error) {
	found, err := list[jobRow](ctx, b, "jobs", 2*JobsMost, NewestRows, JobsMost+1)
	if err != nil {
		return nil, false, false, err
	}
	if all = len(found) <= JobsMost; !all {
		found = found[:JobsMost]
	}
	p, err := b.pauses(ctx, found)
	if err != nil {
		return nil, false, false, err
	}
	runs, err := b.runs(ctx, found)
	if err != nil {
		return nil, false, false, err
	}
	jobs = make([]Job, 0, len(found))
	for i := range found {
		jobs = append(jobs, b.job(&found[i], runs[found[i].ID], p, h))
	}
	SortJobs(jobs)
	return jobs, all, len(found) == 0 || !found[0].Larger, nil
}

// pauses has who has paused what.
type pauses struct {
	groups []Pause
	users  map[int64]string // of the page, by the id of the task
}

func (b *Table) pauses(ctx context.Context, jobs []jobRow) (p pauses, err error) {
	if b.Has("group") {
		if p.groups, err = list[Pause](ctx, b, "paused", groupsMost); err != nil {
			return p, err
		}
	}
	var ids []int64
	for _, j := range jobs {
		if j.Paused {
			ids = append(ids, j.ID)
		}
	}
	if len(ids) == 0 || !b.Has("act") {
		return p, nil
	}
	acts, err := list[struct {
		Task int64
		By   string
	}](ctx, b, "job_acts", ids, actsMost)
	p.users = map[int64]string{}
	for _, a := range acts {
		p.users[a.Task] = a.By
	}
	return p, err
}

// runs returns the runs of jobs by the id of the job, oldest first.
func (b *Table) runs(ctx context.Context, jobs []jobRow) (map[int64][]jobRun, error) {
	ids, keys, ofKey := []int64{}, []string{}, map[string]int64{}
	for _, j := range jobs {
		ids = append(ids, j.ID)
		if j.Key != nil {
			keys, ofKey[*j.Key] = append(keys, *j.Key), j.ID
		}
	}
	found, err := list[jobRun](ctx, b, "job_runs", ids, RunsMost)
	if err == nil && len(keys) > 0 {
		var more []jobRun
		more, err = list[jobRun](ctx, b, "key_runs", keys, NewestRows, RunsMost)
		found = append(found, more...)
	}
	if err != nil {
		return nil, err
	}
	runs := map[int64][]jobRun{}
	for _, r := range found {
		if r.Key != nil {
			r.Head = ofKey[*r.Key]
		}
		runs[r.Head] = append(runs[r.Head], r)
	}
	for head, some := range runs {
		slices.SortStableFunc(some, func(x, y jobRun) int { return cmp.Compare(x.ID, y.ID) })
		runs[head] = slices.CompactFunc(some, func(x, y jobRun) bool { return x.ID == y.ID })
	}
	return runs, nil
}

// job makes a job of its row and its runs.
func (b *Table) job(row *jobRow, runs []jobRun, p pauses, h Hidden) Job {
	j := Job{
		ID: row.ID, Key: row.Key, Group: row.Group, State: row.State, NextRun: row.NextRun,
		Failures: row.Failures, Paused: row.Paused, ended: row.Ended, repeats: row.repeats,
	}
	b.describe(&j, row.Period)
	last := row.Error
	for _, r := range slices.Backward(runs) {
		if r.ID != row.ID {
			if last == nil && !row.Ended || row.GaveUp {
				last = cmp.Or(r.Error, last)
			}
			break
		}
	}
	j.Runs = make([]Run, 0, len(runs))
	for _, r := range runs {
		if r.ID != row.ID {
			j.Runs = append(j.Runs, Run{r.ID, r.Start, r.Stop, r.State})
		}
	}
	j.Runs = append(j.Runs, earlier(row.ID, row.Runs)...)
	if n := len(runs); n > 0 && runs[n-1].ID == row.ID {
		j.Runs = append(j.Runs, Run{row.ID, runs[n-1].Start, runs[n-1].Stop, row.State})
	}
	j.Runs = j.Runs[max(0, len(j.Runs)-RunsMost):]
	if last != nil {
		text := h.Error(*last)
		j.Error = &text
	}
	if n := len(j.Runs); n > 0 {
		j.LastStart, j.LastStop, j.LastState = j.Runs[n-1].Start, j.Runs[n-1].Stop, &j.Runs[n-1].State
	}
	if row.repeat() {
		if row.State == "FAIL" {
			j.Failures++ // the column counts those before
		}
	} else {
		j.Failures = failedInARow(runs)
	}
	j.pausedBy(row, p, h)
	if row.Late > lateAfter && !j.Paused {
		j.Late = &row.Late
	}
	return j
}

// describe sets the expression of a job, its words and its zone.
func (b *Table) describe(j *Job, period string) {
	if !j.repeat() {
		return
	}
	expression, zone, words := period, b.Zone, ""
	if j.Cron != nil {
		var own string
		if own, expression = cutZone(*j.Cron); own != "" {
			zone = own
		}
		words = human.Cron(expression)
	} else {
		words = human.Every(int64(j.Repeat.Months), int64(j.Repeat.Days), j.Repeat.Microseconds)
		if j.Drift && words != "" {
			words += " after its end"
		}
	}
	j.Expression, j.Zone = &expression, &zone
	if words != "" {
		j.Words = &words
	}
}

// zoned matches an expression that names its zone.
var zoned = regexp.MustCompile(`^\s*(?:CRON_)?TZ=(\S+)\s+(.*\S)\s*$`)

// cutZone splits a cron expression into its zone, which may be "", and the rest.
func cutZone(cron string) (zone, rest string) {
	if m := zoned.FindStringSubmatch(cron); m != nil {
		return m[1], m[2]
	}
	return "", cron
}

// earlier returns the runs that the column runs keeps.
func earlier(id int64, text []byte) (runs []Run) {
	var kept []struct {
		Start, Stop pgtype.Timestamptz
		State       string
	}
	if json.Unmarshal(text, &kept) != nil { // somebody else may have written it
		return nil
	}
	for _, k := range kept {
		runs = append(runs, Run{id, k.Start, k.Stop, k.State})
	}
	return runs
}

// failedInARow counts the newest runs that failed.
func failedInARow(runs []jobRun) (n int32) {
	for _, r := range slices.Backward(runs) {
		if r.State != "FAIL" {
			break
		}
		n++
	}
	return n
}

// pausedBy finds out who has paused a job: max_failures, a user of the page, or a row of the table
// of groups.
func (j *Job) pausedBy(row *jobRow, p pauses, h Hidden) {
	if j.Paused {
		if row.GaveUp && row.Error != nil {
			by := strings.TrimPrefix(h.Error(*row.Error), "ERROR:  ")
			j.PausedBy = &by
		} else if by, known := p.users[row.ID]; known {
			j.PausedBy = &by
		}
		return
	}
	for _, g := range p.groups {
		all, isPrefix := strings.CutSuffix(g.Group, "%")
		if row.State == "PLAN" && (g.Group == j.Group || isPrefix && strings.HasPrefix(j.Group, all)) {
			by := "group " + g.Group
			if g.By != nil {
				by += " by " + *g.By
			}
			j.Paused, j.PausedBy = true, &by
			return
		}
	}
}
