package work

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/lane"
	"pgtaskd/work/wake"
)

// loop serves one target. What its fields say of their owner holds: the goroutine that called Serve owns the rest.
type loop struct {
	target  Target
	log     zerolog.Logger
	trouble *trouble

	// Shared with the runners.
	clock    *clock
	lanes    *lane.Lanes[*task]
	inbox    *inbox
	seats    *seats
	patience patience
	shortage shortage
	flights  flights
	habits   habits
	others   others
	instants instants
	live     atomic.Pointer[Live]   // those of the target, or what it was told since
	foreign  atomic.Bool            // there are foreign servers: what writes through them has no transaction id here
	path     atomic.Pointer[string] // the search_path under which ends are written, nil: empty
	texts    atomic.Pointer[sql.Queries]
	zoneName atomic.Pointer[string]  // see zone
	facts    atomic.Pointer[control] // only what does not change after know
	bare     [][2]string             // the parameters of a task that has none of its own
	crew     *routine.Group          // all goroutines of the loop, and of its sessions
	panics   *panics
	stats    *Stats
	throttle throttle

	control            *control
	tasks              map[int64]*task        // read by us, until their end is written
	begun              map[int64]again        // how often tasks had to be run again for reasons of our own
	unsaid             []end                  // ends that could not be written yet
	lost               map[int64]end          // tasks whose session has gone
	killed             []end                  // tasks whose session was terminated
	orphans            map[int64]lane.Key     // under way, but not ours
	soon               []*task                // read before their plan, the earliest first
	ahead              time.Duration          // how long before: soonAhead, see horizon
	kept               map[string]bool        // what keeps rows from being deleted, and has been logged
	hopeless           map[int64]time.Time    // rows that have refused a change, and since when
	leftAlone          map[int64]bool         // rows under way that take no end: their tasks would run again
	columns, described string                 // fingerprints of the table and its columns: as they are, and as queries has them
	unplanned          []unplanned            // found by the scan under way
	parked             map[int64]parked       // rows that could not be taken just now
	empty              []int64                // tasks to be deleted whose rows were locked
	asks               []ask                  // not answered yet
	shows              map[string][][2]string // by group, see shown

	wake      *wake.Waker
	postponed time.Time // until then, changes for another way of waking: the table is locked

	scanning place // where the scan under way goes on
	look     looks
	scribe   scribe
	zone     zone
	reads    func([]*task) // for tests: called with what was read, by the loop; may be nil
	crashed  *time.Time    // when the server has crashed last, as far as it tells
	handed   bool          // the lead was given away: what runs goes on, and nothing else is ours to do
	count    int           // tasks ended since the last look at the pace
	relieved int           // bytes of the heavy ends that have given their slots back

	registering registering
	presence    presence
}

// looks say when what was last done.
type looks struct {
	full, scan, check, orphans, pace, spoke time.Time
	columns                                 time.Time // when they were looked at
	began, swept                            time.Time // the leadership, by the server's clock; deletions that had to wait
	marks                                   time.Time // tasks were looked at that may have to be marked
	search                                  time.Time // all lanes were looked at for a task that may start
	fullTook                                time.Duration
	planned                                 int64     // unplanned tasks with ids up to it were looked at
	low                                     time.Time // plans before were seen by a scan
	next                                    time.Time // earliest plan to come, zero: none
	foreseen                                time.Time // the one for which it was looked what to take before it
	dense                                   time.Time // and followed closely on the one before
	vain                                    time.Time // no task was found alone
	survey                                  time.Time // the table was looked at for the metrics
	wanted                                  bool      // something may have become due
	later                                   bool      // only what is new was looked at: all of it when it may be
	stopped                                 time.Time // since when something may have been stopped or deleted, zero: nothing
	partial                                 bool      // not all that is due is known
	draining                                time.Time
	cancelled                               bool
}

func newLoop(ctx context.Context, t Target, log zerolog.Logger) *loop {
	l := &loop{
		target: t, log: log, trouble: &trouble{log: log, target: t}, stats: cmp.Or(t.Stats, NewStats()), crew: routine.New(ctx), panics: &panics{}, bare: parameters(t, "", "", 1), shows: map[string][][2]string{},
		ahead: soonAhead, clock: &clock{}, inbox: newInbox(), seats: &seats{pids: map[int32]time.Time{}},
		shortage: shortage{log: log, target: t},
		scribe:   scribe{told: make(chan written, 1)},
		flights:  flights{all: map[*runner]*flight{}},
		habits:   habits{of: map[like]*habit{}},
		patience: patience{delay: map[string]time.Duration{}, since: map[string]time.Time{}},
		tasks:    map[int64]*task{}, begun: map[int64]again{}, lost: map[int64]end{}, orphans: map[int64]lane.Key{}, kept: map[string]bool{}, hopeless: map[int64]time.Time{}, leftAlone: map[int64]bool{}, parked: map[int64]parked{},
	}
	live := t.live()
	if latest := t.Changes.get(); latest != nil {
		live = *latest
	}
	l.live.Store(&live)
	l.lanes = lane.New[*task](live.Run, freshForLong, l.clock.now)
	l.wake = l.waker()
	return l
}

// busy tells whether tasks of ours run, or their ends are still to be written.
func (l *loop) busy() bool { return len(l.tasks) > 0 }

// anyRuns tells whether the SQL of a task of ours runs.
func (l *loop) anyRuns() bool {
	for _, t := range l.tasks {
		if pid, _, _ := t.at(); pid != 0 {
			return true
		}
	}
	return false
}

func (l *loop) queries() sql.Queries { return *l.texts.Load() }
func (l *loop) timeZone() string     { return *l.zoneName.Load() }

// encoding is that of the database.
func (l *loop) encoding() string {
	if c := l.facts.Load(); c != nil {
		return c.encoding
	}
	return "UTF8"
}
