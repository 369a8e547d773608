package run

import (
	"sync"
	"sync/atomic"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// Profiles records what inputs of the same shape have done in the same database: whether they
// write, and how long they take. It also counts the instants at work. Any goroutine may use it.
type Profiles struct {
	mu       sync.Mutex
	all      map[like]*profile
	instants atomic.Int32 // instants (queries of microseconds) that runners have now
}

type like struct {
	shape  uint64
	remote string
}

func (t *Task) like() like { return like{t.Traits.Shape, lane.Brief(t.Row.Remote)} }

type profile struct {
	queries int           // the last runs that were only queries; below 0: so many runs until that counts again
	mostly  time.Duration // roughly the median duration, which runs that others displace hardly change
	lasts   time.Duration // the average duration; later runs count for more
}

const (
	profileMost  = 4096 // the most profiles
	profileFirm  = 20   // runs until a profile counts
	profileWrote = 1000 // runs after a write until the shape may count as a query again
)

// saw records a run, and how long it took since its start, or since the end of the task before it
// in the pipeline. A run outside a transaction does not show whether it wrote: it counts only as
// one of the profileWrote runs after a write.
func (h *Profiles) saw(t *Task, atomic bool, took time.Duration, result *exec.Result) {
	if !atomic && t.Row.Remote == "" || !t.Traits.Pipelines() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.all[t.like()]
	if known == nil {
		if len(h.all) >= profileMost {
			clear(h.all)
		}
		known = &profile{}
		h.all[t.like()] = known
	}
	took = max(took, 0) // the server's clock may have been set back
	switch {
	case !atomic:
		known.queries += min(max(-known.queries, 0), 1)
	case result.Wrote() || result.Alone:
		known.queries = -profileWrote
	case result.Failure != nil || !result.Open || Size(result) > HeavyFrom:
		known.queries = min(known.queries, 0)
	default:
		known.queries = min(known.queries+1, profileFirm)
		if known.lasts == 0 {
			known.lasts, known.mostly = took, took
		}
		known.lasts += (took - known.lasts) / 4
		if step := known.mostly/16 + 1; took > known.mostly {
			known.mostly += step
		} else {
			known.mostly -= step
		}
	}
}

// of returns the profile of tasks like this one.
func (h *Profiles) of(t *Task) (known profile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.all[t.like()]; p != nil {
		known = *p
	}
	return known
}

// The length of a pipeline.
const (
	pipelineMost = 22                    // tasks
	pipelineTime = 20 * time.Millisecond // planned duration, including waits for busy cores
	// orderTime is the planned duration in lanes where several tasks run at once: another session
	// may begin a later task this much before the last task of the pipeline.
	orderTime = 5 * time.Millisecond
)

// depth returns how many tasks like this one make a pipeline; 1: it is not pipelined.
func (h *Profiles) depth(t *Task) int {
	most := pipelineTime
	if t.Row.Max > 0 {
		most = orderTime
	}
	return h.of(t).within(most)
}

// within returns how many of these tasks end within that time, at most pipelineMost; 1: the profile
// does not count yet, or they take too long.
func (p profile) within(most time.Duration) int {
	if p.queries < profileFirm {
		return 1
	}
	return int(min(max(most/max(p.lasts, time.Microsecond), 1), pipelineMost))
}

// asQuery tells how a remote task runs. query: tasks like it were short queries, so it runs in a
// transaction of ours. If it has written, it is rolled back and runs once more without one. So a
// task that is cut off has done nothing, and its row need not show WORK before it starts. watch: it
// runs in a transaction of ours, so that its profile learns whether it writes. It is committed in
// any case, and marked first like all tasks that are not exactly once.
func (h *Profiles) asQuery(t *Task) (query, watch bool) {
	if !t.light() || t.Row.How.Save {
		return false, false
	}
	known := h.of(t)
	query = known.within(pipelineTime) > 1
	return query, !query && known.queries >= 0
}

// An instant is a query of microseconds. Sessions that run instants displace each other if there
// are more of them than processors of the server, and a few are enough for all tasks that one
// controller can read and end. So at most InstantMost sessions run instants, however large run is.
// Further instants go to these sessions, several at once (pipeline.go).
const (
	InstantMost = 16
	instantTime = 250 * time.Microsecond // the longest instant: InstantMost sessions run 64,000 a second
	instantPast = 100 * time.Millisecond // after that it does not count: it waits, or gets no session
)

// instant tells whether tasks like this one are instants.
func (h *Profiles) instant(t *Task) bool {
	if t.Traits == nil {
		return false
	}
	known := h.of(t)
	return known.queries == profileFirm && known.mostly <= instantTime
}

// Crowd is for tests: until leave, queries of that SQL count as instants, and InstantMost run.
func (h *Profiles) Crowd(input string) (leave func()) {
	t := &Task{Row: Row{Input: &input}}
	t.Examine()
	for range profileFirm {
		h.saw(t, true, time.Microsecond, &exec.Result{Open: true})
	}
	h.instants.Add(InstantMost)
	return func() { h.instants.Add(-InstantMost) }
}

// crowded tells whether the task is an instant and InstantMost are at work.
func (h *Profiles) crowded(t *Task) bool {
	return h.instants.Load() >= InstantMost && h.instant(t)
}

// joins counts a task whose turn it is, if it is an instant.
func (h *Profiles) joins(t *Task) {
	if h.instant(t) && t.joined.CompareAndSwap(0, time.Now().UnixNano()) {
		h.instants.Add(1)
	}
}

// leaves ends the count of a task when its SQL has ended.
func (h *Profiles) leaves(t *Task) {
	if t.joined.Swap(0) != 0 {
		h.instants.Add(-1)
	}
}

// Lasts ends the count of a task that has taken instantPast or longer.
func (h *Profiles) Lasts(t *Task, now time.Time) {
	if since := t.joined.Load(); since != 0 && now.UnixNano()-since >= int64(instantPast) {
		h.leaves(t)
	}
}
