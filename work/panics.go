package work

import (
	"context"
	"math"
	"slices"
	"sync"

	"pgtaskd/work/ends"
	"pgtaskd/work/run"
)

// panics are the ids of tasks at which runners of this controller have panicked: they are not run
// again. They outlast the leadership that a panic ends: the next one judges them.
type panics struct{ sync.Map }

// all are the tasks.
func (p *panics) all() []int64 {
	ids := []int64{}
	p.Range(func(id, _ any) bool {
		ids = append(ids, id.(int64))
		return true
	})
	return ids
}

// withoutCauses ends those of the tasks that have made us panic before, and returns the others.
func (l *loop) withoutCauses(ctx context.Context, tasks []*run.Task) ([]*run.Task, error) {
	causes := map[int64]ends.End{}
	var ids []int64
	tasks = slices.DeleteFunc(tasks, func(t *run.Task) bool {
		if _, is := l.panics.Load(t.Row.ID); !is {
			return false
		}
		ids = append(ids, t.Row.ID)
		causes[t.Row.ID] = ends.End{Outcome: run.Outcome{Task: t, PID: math.MaxInt32, Start: l.runs.Clock.Now()}}
		return true
	})
	_, _, err := l.cut(ctx, ids, causes)
	return tasks, err
}
