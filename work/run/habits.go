package run

import (
	"sync"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// habits is what inputs of the same shape have done in the same place: whether they write, and how long they take. Runners share it.
type habits struct {
	mu sync.Mutex
	of map[like]*habit
}

type like struct {
	shape  uint64
	remote string
}

func (t *Task) like() like { return like{t.Traits.Shape, lane.Brief(t.Row.Remote)} }

type habit struct {
	queries int           // in a row that were only that; below 0: how many it takes until that counts again
	mostly  time.Duration // the median of what they take, roughly: others that displace them do not count
	lasts   time.Duration // from the start or the end of the one before, if it was sent behind one, to the end; the later runs count for more
}

const (
	habitMost  = 4096 // shapes that are known
	habitFirm  = 20   // runs by which a habit is known
	habitWrote = 1000 // runs until one that has written may be taken for a query again
)

// saw takes note of a run. What runs outside a transaction has not told whether it wrote, and only makes that long ago.
func (h *habits) saw(t *Task, took time.Duration, far bool, result *exec.Result) {
	if !t.Atomic && t.Row.Remote == "" || !t.Traits.Flies() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	if known == nil {
		if len(h.of) >= habitMost {
			clear(h.of)
		}
		known = &habit{}
		h.of[t.like()] = known
	}
	took = max(took, 0) // the server's clock may have been set back
	switch {
	case !t.Atomic:
		known.queries += min(max(-known.queries, 0), 1)
	case result.Wrote || result.Alone:
		known.queries = -habitWrote
	case result.Failure != nil || !result.Open || Size(result) > HeavyFrom:
		known.queries = min(known.queries, 0)
	default:
		known.queries = min(known.queries+1, habitFirm)
		if known.lasts == 0 {
			known.lasts, known.mostly = took, took
		}
		known.lasts += (took - known.lasts) / 4
		switch step := known.mostly/16 + 1; {
		case far:
			known.mostly = time.Hour
		case took > known.mostly:
			known.mostly += step
		default:
			known.mostly -= step
		}
	}
}

// writes tells whether tasks like this one have written of late.
func (h *habits) writes(t *Task) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	return known != nil && known.queries < 0
}

// forget has a habit found out anew.
func (h *habits) forget(t *Task) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, t.like())
}

// flight is how many tasks like this one make a flight; 1: it does not fly.
func (h *habits) flight(t *Task) int {
	if t.Row.Max > 0 {
		return h.in(t, orderTime)
	}
	return h.in(t, flightTime)
}

// short tells whether tasks like this one are known to be over in no time, and not to write.
func (h *habits) short(t *Task) bool { return h.in(t, flightTime) > 1 }

// instant tells whether tasks like this one are over in so little time that more sessions than a few would be in each other's way.
func (h *habits) instant(t *Task) bool {
	if t.Traits == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	return known != nil && known.queries == habitFirm && known.mostly <= instantTime
}

// in is how many tasks like this one are over in that time, of those that make a flight; 1: it is not known, or too few.
func (h *habits) in(t *Task, most time.Duration) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.of[t.like()]
	if known == nil || known.queries < habitFirm {
		return 1
	}
	return int(min(max(most/max(known.lasts, time.Microsecond), 1), flightMost))
}
