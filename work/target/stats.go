package target

import (
	"slices"
	"sync/atomic"
	"time"
)

// Ends are the states to which a run, or the time in which it should have begun, brings a task.
var Ends = [...]string{"DONE", "FAIL", "GONE", "STOP", "PLAN"}

// Why the period of a repeating task passes without a run.
const (
	Late       = "late"       // it was over before the run before it had ended, or nobody led
	Expired    = "expired"    // it has not started by plan + active
	Superseded = "superseded" // another task waits with its key
)

// Skips are the reasons for which periods are skipped.
var Skips = [...]string{Late, Expired, Superseded}

// Stats are what one target counts and shows of itself. They outlast the loops that serve it, one
// after the other. Any goroutine may use them.
type Stats struct {
	ended     [len(Ends)]atomic.Int64
	skipped   [len(Skips)]atomic.Int64
	run, wait histogram
	connected atomic.Int64             // control connections that were made
	serving   atomic.Pointer[Load]     // nil: no loop does
	standing  atomic.Pointer[Standing] // nil: it is starting
	table     atomic.Pointer[Survey]   // nil: not looked at, or somebody else leads
	asked     atomic.Int64             // when Read was called last, in seconds
}

// Load tells how many tasks run, how many are due and do not, and how many sessions there are. Any
// goroutine may call it.
type Load func() (running, ready, sessions int)

// NewStats returns the stats of a target that has not been served yet.
func NewStats() *Stats { return &Stats{} }

// Standing is how a target is served.
type Standing struct {
	Leads, StandsBy bool
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
	if load := s.serving.Load(); load != nil && *load != nil {
		f.Running, f.Ready, f.Seated = (*load)()
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

// Serves has Read call load; nil: nobody serves the target now.
func (s *Stats) Serves(load Load) { s.serving.Store(&load) }

// Connected counts a control connection.
func (s *Stats) Connected() { s.connected.Add(1) }

// Table is what the last look at the table has shown; nil: there was none.
func (s *Stats) Table() *Survey { return s.table.Load() }

// Watched tells whether somebody has read the stats a short while ago.
func (s *Stats) Watched() bool { return time.Since(time.Unix(s.asked.Load(), 0)) < 10*time.Minute }

// Fails takes note of what keeps the target from being served.
func (s *Stats) Fails(err error) { s.Stands(Standing{Fault: err.Error()}) }

// Stands takes note of how the target is served now: if neither led nor stood by for, nothing is
// wrong.
func (s *Stats) Stands(now Standing) {
	s.standing.Store(&now)
	if !now.Leads {
		s.table.Store(nil)
	}
}

// Ends counts tasks whose row shows that state now.
func (s *Stats) Ends(state string, n int) { count(s.ended[:], Ends[:], state, n) }

// Skips counts periods that pass without a run.
func (s *Stats) Skips(reason string, n int) { count(s.skipped[:], Skips[:], reason, n) }

func count(counters []atomic.Int64, names []string, name string, n int) {
	if i := slices.Index(names, name); i >= 0 {
		counters[i].Add(int64(n))
	}
}

// Ran counts a run: when it was due, when it began and ended, and how many periods were passed over
// before it.
func (s *Stats) Ran(due, start, stop time.Time, late int) {
	s.Skips(Late, late)
	s.run.observe(stop.Sub(start))
	s.wait.observe(start.Sub(due))
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
