package target

import (
	"slices"
	"sync/atomic"
	"time"
)

// Ends are the states that a task can reach by a run, or because its time to start has passed.
var Ends = [...]string{"DONE", "FAIL", "GONE", "STOP", "PLAN"}

// Why a period of a repeating task passes without a run.
const (
	Late       = "late"       // the period ended before the previous run, or nobody led
	Expired    = "expired"    // the task has not started by plan + active
	Superseded = "superseded" // another task waits with the task's key
)

// Skips are the reasons why periods are skipped.
var Skips = [...]string{Late, Expired, Superseded}

// Pauses are the reasons why jobs are paused: max_failures, or a person.
var Pauses = [...]string{"failures", "stop"}

// Stats counts and shows what happens at one target. It outlasts the loops that serve the target
// one after another. Any goroutine may use it.
type Stats struct {
	ended     [len(Ends)]atomic.Int64
	skipped   [len(Skips)]atomic.Int64
	run, wait histogram
	unknown   atomic.Int64             // see Unknown
	connected atomic.Int64             // control connections so far
	serving   atomic.Pointer[Load]     // nil: no loop serves the target
	standing  atomic.Pointer[Standing] // nil: the target is starting
	fault     atomic.Pointer[fault]    // the last one; nil: there was none
	table     atomic.Pointer[Survey]   // nil: no look yet, or another controller leads
	asked     atomic.Int64             // when Read was last called, in seconds
	moves     atomic.Int64             // when the loop is to go on at the latest, since birth
}

// Load returns how many tasks run, how many are due but do not run, how many sessions exist, and
// why none can be opened, if there is none. Any goroutine may call it.
type Load func() (running, ready, sessions int, closed string)

// NewStats returns the stats of a target that nobody has served yet.
func NewStats() *Stats {
	s := &Stats{}
	s.Moves(never)
	return s
}

// birth has a monotonic clock reading, which nobody can set. never fits into a sum of durations.
var birth = time.Now()

const never = 100 * 365 * 24 * time.Hour

// Moves records that the loop goes on, and for how long it may wait until it goes on again.
func (s *Stats) Moves(wait time.Duration) { s.moves.Store(int64(time.Since(birth) + min(wait, never))) }

// Overdue returns how long ago the loop should have gone on; less than zero: it waits.
func (s *Stats) Overdue() time.Duration { return time.Since(birth) - time.Duration(s.moves.Load()) }

// Standing says how a target is served.
type Standing struct {
	Leads, StandsBy bool
	Quiet           bool   // everything is closed, as there is no work
	Fault           string // why none of these is true; "": it is starting or draining
	Copy            bool   // the table is a copy that nobody has adopted
}

// fault is a Fault of a Standing, and when it was recorded.
type fault struct {
	text string
	at   time.Time
}

// Survey is the result of a look at the table.
type Survey struct {
	Oldest    time.Duration        // how long the oldest due task that had not started had been due then
	Later     int64                // tasks that wait for a later plan, laterMost at most
	Bytes     int64                // size of the table with its indexes
	Dead      int64                // dead rows
	Paused    [len(Pauses)]int64   // jobs that are paused
	Successes map[string]time.Time // by key, for tasks that have an owner: the last time that one was DONE
}

// Figures are the stats at one moment.
type Figures struct {
	Standing               Standing
	Ended                  [len(Ends)]uint64
	Skipped                [len(Skips)]uint64
	Run, Wait              Times
	Reconnects, Unknown    uint64
	Running, Ready, Seated int // tasks that run; tasks that are due but do not run; sessions
	Table                  *Survey
}

// Sees stores the result of a look at the table.
func (s *Stats) Sees(found Survey) { s.table.Store(&found) }

// Read returns the current figures. While it is called again and again, the leader looks at the
// table.
func (s *Stats) Read() Figures {
	s.asked.Store(time.Now().Unix())
	f := Figures{
		Standing: s.Standing(), Run: s.run.read(), Wait: s.wait.read(),
		Reconnects: uint64(max(s.connected.Load()-1, 0)), Unknown: uint64(s.unknown.Load()), Table: s.table.Load(),
	}
	read(f.Ended[:], s.ended[:])
	read(f.Skipped[:], s.skipped[:])
	if load := s.serving.Load(); load != nil && *load != nil {
		f.Running, f.Ready, f.Seated, _ = (*load)()
	}
	return f
}

func read(into []uint64, from []atomic.Int64) {
	for i := range from {
		into[i] = uint64(from[i].Load())
	}
}

// Standing returns how the target is served now.
func (s *Stats) Standing() Standing {
	if standing := s.standing.Load(); standing != nil {
		return *standing
	}
	return Standing{}
}

// LastFault returns the last fault, and when it was last recorded, even if the target is served
// again; "": there was none.
func (s *Stats) LastFault() (text string, at time.Time) {
	if last := s.fault.Load(); last != nil {
		return last.text, last.at
	}
	return "", time.Time{}
}

// Unknown counts a run of which it is not known whether its transaction was committed.
func (s *Stats) Unknown() { s.unknown.Add(1) }

// Serves sets the function by which Read gets the load; nil: nobody serves the target now.
func (s *Stats) Serves(load Load) { s.serving.Store(&load) }

// Closed returns why no session can be opened, if there is none; else "".
func (s *Stats) Closed() (why string) {
	if load := s.serving.Load(); load != nil && *load != nil {
		_, _, _, why = (*load)()
	}
	return why
}

// Connected counts a control connection.
func (s *Stats) Connected() { s.connected.Add(1) }

// Watched reports whether somebody has read the stats in the last ten minutes.
func (s *Stats) Watched() bool { return time.Since(time.Unix(s.asked.Load(), 0)) < 10*time.Minute }

// Fails records the error that keeps the target from being served.
func (s *Stats) Fails(err error) { s.Stands(Standing{Fault: err.Error()}) }

// Stands records how the target is served now. A Standing with all fields empty means that nothing
// is wrong.
func (s *Stats) Stands(now Standing) {
	s.standing.Store(&now)
	if now.Fault != "" {
		s.fault.Store(&fault{now.Fault, time.Now()})
	}
	if !now.Leads {
		s.table.Store(nil)
	}
}

// Ends counts tasks whose rows now show the state.
func (s *Stats) Ends(state string, n int) { count(s.ended[:], Ends[:], state, n) }

// Skips counts periods that passed without a run.
func (s *Stats) Skips(reason string, n int) { count(s.skipped[:], Skips[:], reason, n) }

func count(counters []atomic.Int64, names []string, name string, n int) {
	if i := slices.Index(names, name); i >= 0 {
		counters[i].Add(int64(n))
	}
}

// Ran counts a run: when it was due, when it began and ended, and how many periods were skipped
// before it.
func (s *Stats) Ran(due, start, stop time.Time, late int) {
	s.Skips(Late, late)
	s.run.observe(stop.Sub(start))
	s.wait.observe(start.Sub(due))
}

// Buckets are the upper bounds of the buckets of a histogram.
var Buckets = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute, time.Hour, 4 * time.Hour,
}

// histogram counts durations by bucket. Any goroutine may use it.
type histogram struct {
	counts [len(Buckets) + 1]atomic.Uint64 // the last bucket is for durations over all bounds
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

// Times are the durations of a histogram.
type Times struct {
	Counts [len(Buckets) + 1]uint64 // the last is for durations over all bounds
	Sum    time.Duration
}

// Count returns the number of durations.
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
