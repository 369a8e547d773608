package demo

import (
	"maps"
	"slices"
	"sync"
)

// own has the ids of the demo's tasks, so that those of others can be marked. Any goroutine may use
// it.
type own struct {
	mu   sync.Mutex
	ids  map[int64]struct{} // with repetitions
	last int64              // the highest id that follow has seen: of later ones nobody knows yet
}

// add records tasks that the demo has inserted.
func (o *own) add(ids []int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, id := range ids {
		o.ids[id] = struct{}{}
	}
}

// follow adds the repetitions of the demo's tasks. Parents come first; before was the last id before
// the demo.
func (o *own) follow(tasks []task, before int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = max(o.last, before)
	for _, t := range tasks {
		if _, ours := o.ids[t.parent]; ours {
			o.ids[t.id] = struct{}{}
		}
		o.last = max(o.last, t.id)
	}
}

// yours reports whether somebody else has inserted a task.
func (o *own) yours(id int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ours := o.ids[id]
	return !ours && id <= o.last
}

func (o *own) list() []int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.ids))
}
