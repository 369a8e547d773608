package judge

import "sync"

// Panics are the ids of tasks at which runners of this controller have panicked: they are not run
// again. They outlast the loop that a panic ends: the next one judges them. Any goroutine may use them.
type Panics struct{ ids sync.Map }

// Blame takes note of a task.
func (p *Panics) Blame(id int64) { p.ids.Store(id, true) }

// Clear forgets all: another controller leads, and judges their rows.
func (p *Panics) Clear() { p.ids.Clear() }

func (p *Panics) has(id int64) bool {
	_, is := p.ids.Load(id)
	return is
}

func (p *Panics) forget(id int64) { p.ids.Delete(id) }

// all are never nil: a statement takes them.
func (p *Panics) all() []int64 {
	ids := []int64{}
	p.ids.Range(func(id, _ any) bool {
		ids = append(ids, id.(int64))
		return true
	})
	return ids
}
