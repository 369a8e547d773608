package work

import (
	"sync/atomic"
	"time"

	"pgtaskd/work/run"
)

// Ends are the states to which a run, or the time in which it should have begun, brings a task.
var Ends = [...]string{"DONE", "FAIL", "GONE", "STOP", "PLAN"}

// Why the period of a repeating task passes without a run.
const (
	skippedLate       = "late"       // it was over before the run before it had ended, or nobody led
	skippedExpired    = "expired"    // it has not started by plan + active
	skippedSuperseded = "superseded" // another task waits with its key
)

// Skips are the reasons for which periods are skipped.
var Skips = [...]string{skippedLate, skippedExpired, skippedSuperseded}

// Stats are what one target counts and shows of itself. They outlast the loops that serve it, one
// after the other. Any goroutine may use them.
type Stats struct {
	ended     [len(Ends)]atomic.Int64
	skipped   [len(Skips)]atomic.Int64
	run, wait histogram
	connected atomic.Int64             // control connections that were made
	serving   atomic.Pointer[loop]     // nil: no loop does
	standing  atomic.Pointer[Standing] // nil: it is starting
	table     atomic.Pointer[Survey]   // nil: not looked at, or somebody else leads
	asked     atomic.Int64             // when Read was called last, in seconds
}

// NewStats returns the stats of a target that has not been served yet.
func NewStats() *Stats { return &Stats{} }

// Standing is how a target is served.
type Standing struct {
	Leads, StandsBy bool
	Since           time.Time
	Fault           string // why neither; "": it is starting or draining
}

// Survey is what a look at the table has shown.
type Survey struct {
	Oldest    time.Duration        // how long the oldest due task that has not started had been due then
	Later     int64                // tasks that wait for a later plan, laterMost at most
	Bytes     int64                // of the table with its indexes
	Dead      int64                // rows
	Successes map[string]time.Time // by key, of the tasks that have an owner: when one of them was last DONE
}

// Figures are the stats at a moment.
type Figures struct {
	Standing               Standing
	Ended                  [len(Ends)]uint64
	Skipped                [len(Skips)]uint64
	Run, Wait              Times
	Reconnects             uint64
	Running, Ready, Seated int // tasks that run; that are due and do not; sessions
	Table                  *Survey
}

// Sees takes note of what a look at the table has shown.
func (s *Stats) Sees(found Survey) { s.table.Store(&found) }

// Read returns what there is to see, and has the table looked at while it is called again and
// again.
func (s *Stats) Read() Figures {
	s.asked.Store(time.Now().Unix())
	f := Figures{
		Standing: s.Standing(), Run: s.run.read(), Wait: s.wait.read(),
		Reconnects: uint64(max(s.connected.Load()-1, 0)), Table: s.table.Load(),
	}
	read(f.Ended[:], s.ended[:])
	read(f.Skipped[:], s.skipped[:])
	if l := s.serving.Load(); l != nil {
		busy, prefetched, ready := l.Lanes.Load()
		f.Running, f.Ready, f.Seated = busy, prefetched+ready, l.Pool.Count()
	}
	return f
}

func read(into []uint64, from []atomic.Int64) {
	for i := range from {
		into[i] = uint64(from[i].Load())
	}
}

// Standing is how the target is served now.
func (s *Stats) Standing() Standing {
	if standing := s.standing.Load(); standing != nil {
		return *standing
	}
	return Standing{}
}

// watched tells whether somebody has read the stats a short while ago.
func (s *Stats) watched() bool {
	return time.Since(time.Unix(s.asked.Load(), 0)) < watchedFor
}

// watchedFor is how long after a reading the next one is expected.
const watchedFor = 10 * time.Minute

func (s *Stats) fails(err error) { s.stands(Standing{Fault: err.Error()}) }

// stands takes note of how the target is served now: if neither led nor stood by for, nothing is
// wrong.
func (s *Stats) stands(now Standing) {
	before := s.Standing()
	now.Since = before.Since
	if now != before {
		now.Since = time.Now()
		s.standing.Store(&now)
	}
	if !now.Leads {
		s.table.Store(nil)
	}
}

// ends counts tasks whose row shows that state now.
func (s *Stats) ends(state string, n int) { count(s.ended[:], Ends[:], state, n) }

func (s *Stats) skips(reason string, n int) { count(s.skipped[:], Skips[:], reason, n) }

func count(counters []atomic.Int64, names []string, name string, n int) {
	for i := range names {
		if names[i] == name {
			counters[i].Add(int64(n))
		}
	}
}

// ran counts a run of which the outcome is known.
func (s *Stats) ran(o *run.Outcome) {
	if o.Start.IsZero() || o.Kind == run.Released {
		return
	}
	row := &o.Task.Row
	if row.Skipped > 0 && row.Attempt == 1 {
		s.skips(skippedLate, int(row.Skipped))
	}
	s.run.observe(o.Stop.Sub(o.Start))
	s.wait.observe(o.Start.Sub(row.Plan.Add(row.Late)))
}

// Buckets are the upper bounds of the times that are counted together.
var Buckets = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute, time.Hour, 4 * time.Hour,
}

// histogram counts times by how long they are. Any goroutine may use it.
type histogram struct {
	counts [len(Buckets) + 1]atomic.Uint64 // the last: those over all bounds
	sum    atomic.Int64                    // nanoseconds
}

func (h *histogram) observe(d time.Duration) {
	d = max(d, 0) // clocks differ
	n := 0
	for n < len(Buckets) && d > Buckets[n] {
		n++
	}
	h.counts[n].Add(1)
	h.sum.Add(int64(d))
}

// Times are the times that were observed.
type Times struct {
	Counts [len(Buckets) + 1]uint64 // by bucket, the last over all bounds
	Sum    time.Duration
}

// Count is how many there were.
func (t Times) Count() (n uint64) {
	for _, c := range t.Counts {
		n += c
	}
	return n
}

func (h *histogram) read() (t Times) {
	for i := range h.counts {
		t.Counts[i] = h.counts[i].Load()
	}
	t.Sum = time.Duration(h.sum.Load())
	return t
}
