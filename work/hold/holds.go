package hold

import "time"

// Holds are the tasks that are not tried before a time, by their ids.
type Holds struct {
	Now func() time.Time // our clock
	all map[int64]held
}

type held struct {
	until  time.Time
	wait   time.Duration
	reason Reason
}

// forgotten is how long a task is remembered after its time: it has been tried by then.
const forgotten = time.Minute

// NewHolds returns one that holds nothing.
func NewHolds() *Holds { return &Holds{Now: time.Now, all: map[int64]held{}} }

// Put has a task wait for that reason, longer each time. It is not tried sooner than it was to be.
func (h *Holds) Put(id int64, why Reason) {
	before := h.all[id]
	h.put(id, why, why.next(before.wait), before.until)
}

// PutAfter has a task wait that has been tried so often before.
func (h *Holds) PutAfter(id int64, why Reason, tries int) {
	h.put(id, why, why.After(tries), time.Time{})
}

func (h *Holds) put(id int64, why Reason, wait time.Duration, least time.Time) {
	until := h.Now().Add(wait)
	if until.Before(least) {
		until = least
	}
	h.all[id] = held{until: until, wait: wait, reason: why}
}

// Forget lets a task be tried, as if it had never been held.
func (h *Holds) Forget(id int64) { delete(h.all, id) }

// Clear does so with all.
func (h *Holds) Clear() { clear(h.all) }

// Len is how many are known.
func (h *Holds) Len() int { return len(h.all) }

// Waits tells whether a task is not to be tried now.
func (h *Holds) Waits(id int64) bool { return len(h.all) > 0 && h.Now().Before(h.all[id].until) }

// Refuses tells that the row of a task refuses us now.
func (h *Holds) Refuses(id int64) bool { return h.HasRefused(id) && h.Waits(id) }

// HasRefused tells that it has refused us, however long ago.
func (h *Holds) HasRefused(id int64) bool {
	why := h.all[id].reason
	return why == Refuses || why == Stuck
}

// IsStuck tells that a task waits for good.
func (h *Holds) IsStuck(id int64) bool { return h.all[id].reason == Stuck }

// Until is when a task may be tried; zero: it is not held.
func (h *Holds) Until(id int64) time.Time { return h.all[id].until }

// Wait is how long a task waits, or has waited last.
func (h *Holds) Wait(id int64) time.Duration { return h.all[id].wait }

// Next is how long it takes until one may be tried whose time comes after then; false: none.
func (h *Holds) Next(then time.Time) (rest time.Duration, ok bool) {
	for _, t := range h.all {
		if left := t.until.Sub(h.Now()); t.until.After(then) && (!ok || left < rest) {
			rest, ok = left, true
		}
	}
	return rest, ok
}

// Sweep forgets those whose time has passed long ago.
func (h *Holds) Sweep() {
	for id, t := range h.all {
		if h.Now().Sub(t.until) > forgotten {
			delete(h.all, id)
		}
	}
}
