package rows

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// Limits of what is read for the jobs of one table.
const (
	JobsMost   = 500
	NewestRows = 10_000 // looked at for tasks that have ended
	RunsMost   = 30     // of each job
	lateAfter  = 2      // seconds: less is the usual way of a task
	groupsMost = 1000   // rows that pause groups
)

// Job is a key, or a chain of repetitions without one. Its id is that of the task that waits, is
// paused or runs; if there is none, of the last one.
type Job struct {
	Target     string             `json:"target"`
	ID         int64              `json:"id"`
	Key        *string            `json:"key"`
	Group      string             `json:"group"`
	State      string             `json:"state"`
	Expression *string            `json:"expression"` // cron without its zone, or repeat; nil: it does not repeat
	Words      *string            `json:"words"`      // nil: the expression says it better
	Zone       *string            `json:"zone"`
	NextRun    pgtype.Timestamptz `json:"next_run"`
	LastStart  pgtype.Timestamptz `json:"last_start"`
	LastStop   pgtype.Timestamptz `json:"last_stop"`
	LastState  *string            `json:"last_state"`
	Error      *string            `json:"error"`    // the first line of the last one
	Failures   int32              `json:"failures"` // in a row
	Paused     bool               `json:"paused"`
	PausedBy   *string            `json:"paused_by"` // nil: nobody knows
	Late       *float64           `json:"late"`      // seconds since it is due; nil: it is not late
	Runs       []Run              `json:"runs"`      // oldest first
	ended      bool
	repeats    `json:"-"`
}

// Ended tells whether the job's last task has ended, and no other follows.
func (j *Job) Ended() bool { return j.ended }

// Run is one run of a job. A task that was not worth running has no start.
type Run struct {
	ID    int64              `json:"id"`
	Start pgtype.Timestamptz `json:"start"`
	Stop  pgtype.Timestamptz `json:"stop"`
	State string             `json:"state"`
}

// Took returns how long a run took; 0 if it has no end or never began.
func (r Run) Took() time.Duration {
	if !finite(r.Start) || !finite(r.Stop) {
		return 0
	}
	return max(0, r.Stop.Time.Sub(r.Start.Time))
}

func finite(at pgtype.Timestamptz) bool {
	return at.Valid && at.InfinityModifier == pgtype.Finite
}

// repeats has the columns of a repeating task that its beats depend on.
type repeats struct {
	Cron    *string            `db:"cron"`
	Repeat  pgtype.Interval    `db:"repeat"`
	Drift   bool               `db:"drift"`
	Overlap bool               `db:"overlap"`
	Until   pgtype.Timestamptz `db:"until"`
}

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

// Jobs returns the jobs of the table, trouble first. all is false if there may be more.
func (b *Table) Jobs(ctx context.Context, h Hidden) (jobs []Job, all bool, err error) {
	found, err := list[jobRow](ctx, b, "jobs", 2*JobsMost, NewestRows, JobsMost+1)
	if err != nil {
		return nil, false, err
	}
	if all = len(found) <= JobsMost; !all {
		found = found[:JobsMost]
	}
	pauses, err := b.pauses(ctx)
	if err != nil {
		return nil, false, err
	}
	runs, err := b.runs(ctx, found)
	if err != nil {
		return nil, false, err
	}
	jobs = make([]Job, 0, len(found))
	for i := range found {
		jobs = append(jobs, b.job(&found[i], runs[found[i].ID], pauses, h))
	}
	SortJobs(jobs)
	return jobs, all, nil
}

func (b *Table) pauses(ctx context.Context) ([]Pause, error) {
	if !b.Has("group") {
		return nil, nil
	}
	return list[Pause](ctx, b, "paused", groupsMost)
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
func (b *Table) job(row *jobRow, runs []jobRun, pauses []Pause, h Hidden) Job {
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
	j.pausedBy(row, pauses, h)
	if row.Late > lateAfter && !j.Paused {
		j.Late = &row.Late
	}
	return j
}

// repeat tells whether the task repeats.
func (r *repeats) repeat() bool {
	return r.Cron != nil || r.Repeat.Months > 0 || r.Repeat.Days > 0 || r.Repeat.Microseconds > 0
}

// describe sets the expression of a job, its words and its zone.
func (b *Table) describe(j *Job, period string) {
	if !j.repeat() {
		return
	}
	expression, zone, words := period, b.Zone, ""
	if j.Cron != nil {
		var own string
		if own, expression = CutZone(*j.Cron); own != "" {
			zone = own
		}
		words = Words(expression)
	} else {
		words = repeatWords(j.Repeat, j.Drift)
	}
	j.Expression, j.Zone = &expression, &zone
	if words != "" {
		j.Words = &words
	}
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

// pausedBy finds out who has paused a job: its own row, or a row of the table of groups.
func (j *Job) pausedBy(row *jobRow, pauses []Pause, h Hidden) {
	if j.Paused {
		if row.GaveUp && row.Error != nil {
			by := strings.TrimPrefix(h.Error(*row.Error), "ERROR:  ")
			j.PausedBy = &by
		}
		return
	}
	for _, p := range pauses {
		all, isPrefix := strings.CutSuffix(p.Group, "%")
		if row.State == "PLAN" && (p.Group == j.Group || isPrefix && strings.HasPrefix(j.Group, all)) {
			by := "group " + p.Group
			if p.By != nil {
				by += " by " + *p.By
			}
			j.Paused, j.PausedBy = true, &by
			return
		}
	}
}

// Failing tells whether the last run failed, or the job cannot go on.
func (j *Job) Failing() bool {
	if j.State == "STOP" {
		return j.Paused && j.Failures > 0
	}
	return j.Failures > 0 || j.Error != nil
}

// SortJobs sorts jobs by trouble: failing, late, paused, then by the next run.
func SortJobs(jobs []Job) {
	rank := func(j *Job) int {
		switch {
		case j.Failing():
			return 0
		case j.Late != nil:
			return 1
		case j.Paused:
			return 2
		case j.ended:
			return 4
		}
		return 3
	}
	next := func(j *Job) time.Time {
		if finite(j.NextRun) {
			return j.NextRun.Time
		}
		if j.State == "WORK" {
			return time.Time{}
		}
		return time.Unix(1<<40, 0)
	}
	slices.SortStableFunc(jobs, func(x, y Job) int {
		return cmp.Or(cmp.Compare(rank(&x), rank(&y)), next(&x).Compare(next(&y)), cmp.Compare(x.Target, y.Target), cmp.Compare(x.ID, y.ID))
	})
}
