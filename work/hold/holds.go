package hold

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"pgtaskd/exec/fault"
)

// Holds has the tasks that must wait before they are tried again, by id.
type Holds struct {
	Now func() time.Time // our clock
	all map[int64]held
}

type held struct {
	until  time.Time
	wait   time.Duration
	reason Reason
}

// forgotten is how long a task is remembered after its wait: by then it has been tried.
const forgotten = time.Minute

// NewHolds returns an empty Holds.
func NewHolds() *Holds { return &Holds{Now: time.Now, all: map[int64]held{}} }

// Put makes a task wait for that reason, longer each time. It never shortens a wait.
func (h *Holds) Put(id int64, why Reason) {
	before := h.all[id]
	h.put(id, why, why.next(before.wait), before.until)
}

// PutAfter makes a task wait as long as after so many earlier tries. It may shorten a wait.
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

// Forget forgets a task, as if it had never been held.
func (h *Holds) Forget(id int64) { delete(h.all, id) }

// Clear forgets all tasks.
func (h *Holds) Clear() { clear(h.all) }

// Len returns how many tasks are remembered.
func (h *Holds) Len() int { return len(h.all) }

// Waits tells whether a task must still wait.
func (h *Holds) Waits(id int64) bool { return len(h.all) > 0 && h.Now().Before(h.all[id].until) }

// Refuses tells whether a task waits because its row has refused a change.
func (h *Holds) Refuses(id int64) bool { return h.HasRefused(id) && h.Waits(id) }

// HasRefused tells the same, also after the wait.
func (h *Holds) HasRefused(id int64) bool {
	why := h.all[id].reason
	return why == Refuses || why == Stuck
}

// IsStuck tells whether a task waits for good.
func (h *Holds) IsStuck(id int64) bool { return h.all[id].reason == Stuck }

// Until returns when a task may be tried; zero: it is not held.
func (h *Holds) Until(id int64) time.Time { return h.all[id].until }

// Wait returns the length of a task's current or last wait.
func (h *Holds) Wait(id int64) time.Duration { return h.all[id].wait }

// Next returns the time until the next wait ends that ends after then; false: there is none.
func (h *Holds) Next(then time.Time) (rest time.Duration, ok bool) {
	for _, t := range h.all {
		if left := t.until.Sub(h.Now()); t.until.After(then) && (!ok || left < rest) {
			rest, ok = left, true
		}
	}
	return rest, ok
}

// Sweep forgets the tasks whose waits ended long ago.
func (h *Holds) Sweep() {
	for id, t := range h.all {
		if h.Now().Sub(t.until) > forgotten {
			delete(h.all, id)
		}
	}
}

// Never is the time until the next step if there is nothing to do.
const Never = time.Duration(math.MaxInt64)

// Reason is why a task, an end or a mark waits.
type Reason int

// The first five are reasons for Holds.
const (
	Missing  Reason = iota // the row could not be read: it was changed, or somebody has locked it
	Refuses                // the row has refused a change: somebody may mend that meanwhile
	Stuck                  // the row says that the task runs, and takes no end: waits as long as we lead
	Unmarked               // the row takes no mark now
	Zoneless               // the cron expression needs a time zone that we do not know

	Locked    // an end or a mark: somebody has locked the row, or a trigger has kept the row as it was
	Exhausted // an end: a repetition needs an id or a partition that the table lacks; a person must help
	QueueFull // a task: the server's queue of notifications is full
	Crossed   // a task: another transaction was in the way
	Closed    // tasks whose remote or role accepts no connection
	Untold    // a run on a remote: it is not known yet how its transaction has ended
)

// backoffs has the first and the longest wait for each reason. Waits double in between.
var backoffs = [...]struct{ first, most time.Duration }{
	Missing:   {20 * time.Millisecond, time.Second},
	Refuses:   {time.Minute, time.Minute},
	Stuck:     {Never, Never},
	Unmarked:  {time.Second, 10 * time.Second},
	Zoneless:  {5 * time.Second, 5 * time.Second},
	Locked:    {50 * time.Millisecond, time.Second},
	Exhausted: {500 * time.Millisecond, 30 * time.Second},
	QueueFull: {time.Second, time.Minute},
	Crossed:   {5 * time.Millisecond, 640 * time.Millisecond},
	Closed:    {time.Second, time.Minute},
	Untold:    {200 * time.Millisecond, 10 * time.Second},
}

// After returns how long to wait after so many earlier tries.
func (r Reason) After(tries int) (wait time.Duration) {
	for range min(tries, 16) + 1 {
		wait = r.next(wait)
	}
	return wait
}

// next returns the wait that follows a wait; 0: there was none.
func (r Reason) next(wait time.Duration) time.Duration {
	return min(max(2*wait, backoffs[r].first), backoffs[r].most)
}

// Backoff says when to try something again that has failed. The zero Backoff has not failed.
type Backoff struct {
	Wait  time.Duration // before the next try; 0: no try has failed
	Since time.Time     // when the first try failed
	After time.Time     // when the next try may come
}

// Later puts off the next try, for longer each time.
func (b *Backoff) Later(why Reason) {
	if b.Since.IsZero() {
		b.Since = time.Now()
	}
	b.Wait = why.next(b.Wait)
	b.After = time.Now().Add(b.Wait)
}

const (
	// Batch is the most rows that one statement changes or reads.
	Batch = 500
	// Parts is how many parts a refused change is split into. If each of a thousand rows is
	// refused, that takes not many more than a thousand statements.
	Parts = 8
	// Turn is how long a duty works on a long list before other duties have their turn.
	Turn = 50 * time.Millisecond

	lockShare = 14 // rest 14 times as long as a statement took: waits for locks take less than half of the time
)

// Sizer limits how many rows the next statement changes, as the table may refuse some rows, or
// locks may hold them up. Each kind of statement has its own Sizer.
type Sizer struct {
	most  int       // rows, as a statement with more has failed; 0: no limit but Batch
	until time.Time // until then rows that met a lock, or are slow, are not tried
}

// Rests tells whether rows that met a lock must still wait.
func (s *Sizer) Rests() bool { return time.Now().Before(s.until) }

// Until returns when these rows may be tried.
func (s *Sizer) Until() time.Time { return s.until }

// Rest makes these rows wait, in proportion to the time that the statement took. It began at began.
func (s *Sizer) Rest(began time.Time) { s.until = time.Now().Add(lockShare * time.Since(began)) }

// Late tells whether a change that began at began should leave its other rows for the next round.
func (s *Sizer) Late(began time.Time) bool {
	return (s.most > 0 || s.Rests()) && time.Since(began) >= Turn
}

// Took records a change of n rows that began at began. After a failure the next statements change
// fewer rows, until some have succeeded.
func (s *Sizer) Took(n int, began time.Time, why fault.Class) {
	if why == fault.Locked {
		s.Rest(began)
	}
	switch {
	case n > 1 && why.OfRow():
		s.most = max(n/Parts, 1)
	case why == fault.None && s.most > 0:
		if s.most *= 2; s.most >= Batch {
			s.most = 0
		}
	}
}

// Batch returns how many of n rows the next statement changes.
func (s *Sizer) Batch(n int) int { return min(n, cmp.Or(s.most, Batch)) }

// Tries counts how often tasks had to run again for reasons not their own. It outlasts terms.
type Tries struct{ all map[int64]tries }

type tries struct {
	runs    int
	crossed int // the runs in which another transaction was in the way
}

// CrossedMost is how often a task runs again because another transaction was in its way (40001,
// 40P01, 55P03) before it FAILs.
const CrossedMost = 5

// NewTries returns an empty Tries.
func NewTries() *Tries { return &Tries{all: map[int64]tries{}} }

// Runs returns how often a task had to run again.
func (t *Tries) Runs(id int64) int { return t.all[id].runs }

// Crossed returns how often another transaction was in the way of a task.
func (t *Tries) Crossed(id int64) int { return t.all[id].crossed }

// Again counts another run.
func (t *Tries) Again(id int64) {
	n := t.all[id]
	n.runs++
	t.all[id] = n
}

// Once counts a run, unless one is counted already.
func (t *Tries) Once(id int64) {
	if t.all[id].runs == 0 {
		t.Again(id)
	}
}

// Crosses counts a run in which another transaction was in the way, and returns how long to wait.
// The wait is random, so that tasks that met the same transaction do not meet each other again.
func (t *Tries) Crosses(id int64) time.Duration {
	n := t.all[id]
	n.runs, n.crossed = n.runs+1, n.crossed+1
	t.all[id] = n
	return rand.N(Crossed.After(n.crossed))
}

// Forget forgets a task that has ended.
func (t *Tries) Forget(id int64) { delete(t.all, id) }
