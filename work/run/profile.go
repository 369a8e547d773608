package run

import (
	"sync"
	"sync/atomic"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// Profiles is what inputs of the same shape have done in the same place: whether they write, and
// how long they take. It also counts the instants at work. Any goroutine may use it.
type Profiles struct {
	mu       sync.Mutex
	all      map[like]*profile
	instants atomic.Int32 // queries of microseconds that runners see to
}

type like struct {
	shape  uint64
	remote string
}

func (t *Task) like() like { return like{t.Traits.Shape, lane.Brief(t.Row.Remote)} }

type profile struct {
	queries int           // in a row that were only that; below 0: how many it takes until that counts again
	mostly  time.Duration // the median of what they take, roughly: others that displace them do not count
	lasts   time.Duration // from the start or the end of the one before, if it was sent after one, to the end; the later runs count for more
}

const (
	profileMost  = 4096 // shapes that are known
	profileFirm  = 20   // runs by which a profile is known
	profileWrote = 1000 // runs until one that has written may be taken for a query again
)

// saw takes note of a run. A run outside a transaction does not tell whether it wrote: it only
// counts as one of the profileWrote runs after a write.
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

// of is what is known of tasks like this one.
func (h *Profiles) of(t *Task) (known profile) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.all[t.like()]; p != nil {
		known = *p
	}
	return known
}

// How long a pipeline is.
const (
	pipelineMost = 22                    // tasks
	pipelineTime = 20 * time.Millisecond // that it is to take, sessions that displace each other on busy cores included;
	orderTime    = 5 * time.Millisecond  // in lanes where several run at once, since by so much the first of another session may begin before the last of this one
)

// depth is how many tasks like this one make a pipeline; 1: it is not pipelined.
func (h *Profiles) depth(t *Task) int {
	most := pipelineTime
	if t.Row.Max > 0 {
		most = orderTime
	}
	return h.of(t).within(most)
}

// within is how many of these tasks are over in that time, of those that make a pipeline; 1: it is
// not known, or too few.
func (p profile) within(most time.Duration) int {
	if p.queries < profileFirm {
		return 1
	}
	return int(min(max(most/max(p.lasts, time.Microsecond), 1), pipelineMost))
}

// asQuery tells whether a remote task runs as one does in the target's own database, in a
// transaction of ours: like others that have been short. It is rolled back if it has written, and
// run once more as it is. So nothing is in doubt when it is cut off, and its row need not show WORK
// before it starts. Or whether it is to show, in a transaction of ours, what its like are: whatever
// it does is committed then, and it is marked like all that is not exactly once.
func (h *Profiles) asQuery(t *Task) (query, watch bool) {
	if !t.light() || t.Row.How.Save {
		return false, false
	}
	known := h.of(t)
	query = known.within(pipelineTime) > 1
	return query, !query && known.queries >= 0
}

// Sessions whose queries take microseconds displace each other where they outnumber the server's
// processors, and some of them are enough for all that one controller can take and end. So no more
// than these run instants at once, however large run is; what follows goes to them, several at
// once (pipeline.go).
const (
	InstantMost = 16
	instantTime = 250 * time.Microsecond // of a query: so many sessions do 64,000 a second
	instantPast = 100 * time.Millisecond // after which a query does not count: it waits, or its session cannot be had
)

// instant tells whether tasks like this one are over in so little time that more sessions than a
// few would be in each other's way.
func (h *Profiles) instant(t *Task) bool {
	if t.Traits == nil {
		return false
	}
	known := h.of(t)
	return known.queries == profileFirm && known.mostly <= instantTime
}

// Crowd is for tests: until leave, queries of that SQL count as instants, and as many as may are at
// work.
func (h *Profiles) Crowd(input string) (leave func()) {
	t := &Task{Row: Row{Input: &input}}
	t.Examine()
	for range profileFirm {
		h.saw(t, true, time.Microsecond, &exec.Result{Open: true})
	}
	h.instants.Add(InstantMost)
	return func() { h.instants.Add(-InstantMost) }
}

// crowded tells whether the task would be one instant more than may be at work.
func (h *Profiles) crowded(t *Task) bool {
	return h.instants.Load() >= InstantMost && h.instant(t)
}

// joins counts a task in whose turn it is.
func (h *Profiles) joins(t *Task) {
	if h.instant(t) && t.joined.CompareAndSwap(0, time.Now().UnixNano()) {
		h.instants.Add(1)
	}
}

// leaves counts it out, when its SQL is over.
func (h *Profiles) leaves(t *Task) {
	if t.joined.Swap(0) != 0 {
		h.instants.Add(-1)
	}
}

// Lasts counts a task out that turns out to take its time.
func (h *Profiles) Lasts(t *Task, now time.Time) {
	if since := t.joined.Load(); since != 0 && now.UnixNano()-since >= int64(instantPast) {
		h.leaves(t)
	}
}
