package judge

import (
	"context"
	"math"
	"slices"
	"time"

	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// Judge judges what is under way and not run by us: runs whose session is lost, and tasks of an old
// leader. Watch sees to what we run.
type Judge struct {
	*cutter
	Lost    *Lost
	Orphans *Orphans
	Watch   *Watch
	looked  time.Time
}

// New returns one that knows of nothing.
func New(c Config) *Judge {
	cut := &cutter{Config: c}
	return &Judge{
		cutter:  cut,
		Lost:    &Lost{cutter: cut, runs: map[int64]run.Outcome{}},
		Orphans: &Orphans{cutter: cut, all: map[int64]*orphan{}},
		Watch:   &Watch{cutter: cut},
	}
}

// Begin begins a term, by the server's clock.
func (j *Judge) Begin(now time.Time) {
	j.began, j.looked = now, time.Time{}
	*j.Watch = Watch{cutter: j.cutter}
}

// Next is how long the next look waits.
func (j *Judge) Next() time.Duration {
	if len(j.Lost.runs)+j.Orphans.Len() > 0 {
		return tick - time.Since(j.looked)
	}
	return hold.Never
}

// Step judges what can be judged by now.
func (j *Judge) Step(ctx context.Context) error {
	j.looked = time.Now()
	if err := j.Lost.judge(ctx); err != nil {
		return err
	}
	return j.Orphans.judge(ctx)
}

// WithoutPanicked ends those tasks at which a runner has panicked, and returns the others. All were read
// and have not started.
func (j *Judge) WithoutPanicked(ctx context.Context, tasks []*run.Task) ([]*run.Task, error) {
	panicked := map[int64]run.Outcome{}
	var ids []int64
	tasks = slices.DeleteFunc(tasks, func(t *run.Task) bool {
		id := t.Row.ID
		if !j.Panics.has(id) {
			return false
		}
		ids, panicked[id] = append(ids, id), run.Outcome{Task: t, PID: math.MaxInt32, Start: j.Clock.Now()}
		return true
	})
	_, _, err := j.cut(ctx, ids, panicked)
	return tasks, err
}
