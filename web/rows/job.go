package rows

import (
	"cmp"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
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
	Beat    pgtype.Timestamptz `db:"beat"` // what repetitions are counted from
}

// repeat tells whether the task repeats.
func (r *repeats) repeat() bool {
	return r.Cron != nil || r.Repeat.Months > 0 || r.Repeat.Days > 0 || r.Repeat.Microseconds > 0
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
