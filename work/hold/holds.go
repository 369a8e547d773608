package hold

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"

	"pgtaskd/exec/fault"
)

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

// Never is how long nothing is to be done, where nothing is known of.
const Never = time.Duration(math.MaxInt64)

// Reason is why something waits.
type Reason int

// Reasons for which a task is not tried before.
const (
	Missing  Reason = iota // its row was not there to be read: it has changed, or somebody has locked it
	Refuses                // its row has refused a change: what refuses it may be mended by then
	Stuck                  // its row takes no end at all, and says that it runs: for as long as we lead
	Unmarked               // its row takes no mark now
	Zoneless               // its cron expression needs a time zone that we do not know

	Locked    // an end or a mark: somebody has locked its row, or a trigger left it out
	Exhausted // an end: the table lacks an id or a partition for what follows, which takes a person
	QueueFull // a task: the server's queue of notifications has no room
	Crossed   // a task: another transaction was in the way
	Closed    // tasks whose remote, or role, takes no connection
)

// backoffs are the first wait for each reason, and the longest, up to which it doubles.
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
}

// After is how long to wait after so many tries before.
func (r Reason) After(tries int) (wait time.Duration) {
	for range min(tries, 16) + 1 {
		wait = r.next(wait)
	}
	return wait
}

// next is how long to wait after a wait; 0: there was none.
func (r Reason) next(wait time.Duration) time.Duration {
	return min(max(2*wait, backoffs[r].first), backoffs[r].most)
}

// Backoff is when something is tried again that a row has not taken. The zero one has not failed.
type Backoff struct {
	Wait  time.Duration // before the next try; 0: there has been none that failed
	Since time.Time     // the first one that failed,
	After time.Time     // and the next one
}

// Later puts it off, for longer each time.
func (b *Backoff) Later(why Reason) {
	if b.Since.IsZero() {
		b.Since = time.Now()
	}
	b.Wait = why.next(b.Wait)
	b.After = time.Now().Add(b.Wait)
}

const (
	// Batch is how many rows one statement changes or reads at most.
	Batch = 500
	// Parts is how many parts a refused change is split into: if each of a thousand rows is refused,
	// that takes not many more statements than a thousand.
	Parts = 8
	// Turn is how long a duty works at once on what may be a million: other duties come in between.
	Turn = 50 * time.Millisecond

	lockShare = 14 // waits for locks take less than half of the loop's time
)

// Sizer says how many rows the next statement changes, which the table may refuse, or somebody's lock
// may hold up. Each kind of statement has its own.
type Sizer struct {
	most  int       // rows, since a statement with more has failed; 0: as many as may be
	until time.Time // until then nothing is tried that met a lock, or is slow
}

// Rests tells that nothing is tried now that met a lock.
func (s *Sizer) Rests() bool { return time.Now().Before(s.until) }

// Until is when that may be tried.
func (s *Sizer) Until() time.Time { return s.until }

// Rest makes what met a lock, or is slow, wait in proportion to what one took that began then.
func (s *Sizer) Rest(began time.Time) { s.until = time.Now().Add(lockShare * time.Since(began)) }

// Late tells that the rest of a change that began then is left for the next time.
func (s *Sizer) Late(began time.Time) bool {
	return (s.most > 0 || s.Rests()) && time.Since(began) >= Turn
}

// Took takes note of a change of n rows that began then. After a failure the next changes are of
// fewer rows, until some have gone well.
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

// Batch is how many of n rows are changed in the next statement.
func (s *Sizer) Batch(n int) int { return min(n, cmp.Or(s.most, Batch)) }

// Tries are how often tasks had to run again for reasons of our own, by their ids. They outlast
// terms.
type Tries struct{ all map[int64]tries }

type tries struct {
	runs    int
	crossed int // of those, because another transaction was in the way
}

// CrossedMost is how often a task runs again because another transaction was in its way (40001,
// 40P01, 55P03) before it FAILs.
const CrossedMost = 5

// NewTries returns one in which nothing had to.
func NewTries() *Tries { return &Tries{all: map[int64]tries{}} }

// Runs is how often a task had to.
func (t *Tries) Runs(id int64) int { return t.all[id].runs }

// Crossed is how often another transaction was in the way.
func (t *Tries) Crossed(id int64) int { return t.all[id].crossed }

// Again counts another run.
func (t *Tries) Again(id int64) {
	n := t.all[id]
	n.runs++
	t.all[id] = n
}

// Once makes it one run at least.
func (t *Tries) Once(id int64) {
	if t.all[id].runs == 0 {
		t.Again(id)
	}
}

// Crosses counts a run that another transaction was in the way of. The wait is random: others that
// met it wait as well, and not for as long.
func (t *Tries) Crosses(id int64) time.Duration {
	n := t.all[id]
	n.runs, n.crossed = n.runs+1, n.crossed+1
	t.all[id] = n
	return rand.N(Crossed.After(n.crossed))
}

// Forget forgets a task that has ended.
func (t *Tries) Forget(id int64) { delete(t.all, id) }
