package work

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"

	"pgtaskd/work/run"
)

// panics are tasks that panics of this controller have cut off. They outlast the leadership that a
// panic ends: the next one judges them.
type panics struct {
	mu  sync.Mutex
	own map[int64]bool // which are the cause: their own runner has panicked, or panicsMost of others' have met them
	met map[int64]int  // how often others have
}

const (
	panicsMost  = 5
	panicsKnown = 10_000
)

// cause takes note of the task at whose run a runner has panicked.
func (p *panics) cause(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil {
		p.own = map[int64]bool{}
	}
	p.own[id] = true
}

// meet takes note of all the tasks that a panic has cut off. Any of them may be the cause.
func (p *panics) meet(ids []int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil {
		p.own = map[int64]bool{}
	}
	if p.met == nil || len(p.met) > panicsKnown {
		p.met = map[int64]int{}
	}
	for _, id := range ids {
		if p.met[id]++; p.met[id] >= panicsMost {
			p.own[id] = true
		}
	}
}

// causes are the tasks that are not to be run again.
func (p *panics) causes() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int64{}, slices.Collect(maps.Keys(p.own))...)
}

// are tells whether the task is one of the causes.
func (p *panics) are(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.own[id]
}

// forget leaves them to another controller.
func (p *panics) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.own = nil
}

// judged forgets a task that is not under way any more.
func (p *panics) judged(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own[id] {
		delete(p.own, id)
		delete(p.met, id)
	}
}

// begunTasks are those whose SQL has begun and whose end is not written.
func (l *loop) begunTasks() (ids []int64) {
	for id, t := range l.tasks {
		if _, start, _ := t.Runs(); !start.IsZero() {
			ids = append(ids, id)
		}
	}
	return ids
}

// withoutCauses ends those of the tasks that have made us panic before, and returns the others.
func (l *loop) withoutCauses(ctx context.Context, tasks []*run.Task) ([]*run.Task, error) {
	causes := map[int64]end{}
	var ids []int64
	tasks = slices.DeleteFunc(tasks, func(t *run.Task) bool {
		if !l.panics.are(t.Row.ID) {
			return false
		}
		ids = append(ids, t.Row.ID)
		causes[t.Row.ID] = endOf(run.Outcome{Task: t, PID: math.MaxInt32, Start: l.Clock.Now()}, &task{Task: t})
		return true
	})
	_, _, err := l.cut(ctx, ids, causes)
	return tasks, err
}
