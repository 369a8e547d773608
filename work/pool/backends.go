package pool

import (
	"maps"
	"slices"
	"time"
)

// Join takes down a backend of ours.
func (p *Pool) Join(b Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids[b.PID] = b.Since
}

// Leave takes out a backend that has ended, unless another one has its process id by now.
func (p *Pool) Leave(b Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left(b)
}

// Backends are the backends of our sessions.
func (p *Pool) Backends() []Backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Backend, 0, len(p.pids))
	for pid, since := range p.pids {
		all = append(all, Backend{pid, since})
	}
	return all
}

// PIDs are those of our sessions in the target's own database.
func (p *Pool) PIDs() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.AppendSeq([]int32{}, maps.Keys(p.pids))
}

// Columns are backends as statements take them.
func Columns(backends []Backend) (pids []int32, starts []time.Time) {
	pids, starts = make([]int32, len(backends)), make([]time.Time, len(backends))
	for i, b := range backends {
		pids[i], starts[i] = b.PID, b.Since
	}
	return pids, starts
}
