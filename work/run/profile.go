package run

import (
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// profiles is what inputs of the same shape have done in the same place: whether they write, and
// how long they take. Runners share it.
type profiles struct {
	mu sync.Mutex
	of map[like]*profile
}

type like struct {
	shape  uint64
	remote string
}

func (t *Task) like() like { return like{t.Traits.Shape, lane.Brief(t.Row.Remote)} }

type profile struct {
	queries int           // in a row that were only that; below 0: how many it takes until that counts again
	lasts   time.Duration // from the start or the end of the one before, if it was sent behind one, to the end; the later runs count for more
}

const (
	profileMost  = 4096 // shapes that are known
	profileFirm  = 20   // runs by which a profile is known
	profileWrote = 1000 // runs until one that has written may be taken for a query again
)

// saw takes note of a run. What runs outside a transaction has not told whether it wrote, and only
// makes that long ago.
func (h *profiles) saw(t *Task, took time.Duration, result *exec.Result) {
	if !t.Atomic && t.Row.Remote == "" || !t.Traits.Pipelines() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	if known == nil {
		if len(h.of) >= profileMost {
			clear(h.of)
		}
		known = &profile{}
		h.of[t.like()] = known
	}
	took = max(took, 0) // the server's clock may have been set back
	switch {
	case !t.Atomic:
		known.queries += min(max(-known.queries, 0), 1)
	case result.Wrote() || result.Alone:
		known.queries = -profileWrote
	case result.Failure != nil || !result.Open || Size(result) > HeavyFrom:
		known.queries = min(known.queries, 0)
	default:
		known.queries = min(known.queries+1, profileFirm)
		if known.lasts == 0 {
			known.lasts = took
		}
		known.lasts += (took - known.lasts) / 4
	}
}

// writes tells whether tasks like this one have written recently.
func (h *profiles) writes(t *Task) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	return known != nil && known.queries < 0
}

// forget has a profile found out again.
func (h *profiles) forget(t *Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, t.like())
}

// depth is how many tasks like this one make a pipeline; 1: it is not pipelined.
func (h *profiles) depth(t *Task) int {
	if t.Row.Max > 0 {
		return h.in(t, orderTime)
	}
	return h.in(t, pipelineTime)
}

// short tells whether tasks like this one are known to be over in no time, and not to write.
func (h *profiles) short(t *Task) bool { return h.in(t, pipelineTime) > 1 }

// in is how many tasks like this one are over in that time, of those that make a pipeline; 1: it is
// not known, or too few.
func (h *profiles) in(t *Task, most time.Duration) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	if known == nil || known.queries < profileFirm {
		return 1
	}
	return int(min(max(most/max(known.lasts, time.Microsecond), 1), pipelineMost))
}
