package run

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Config is what a dispatcher works with. It belongs to the leader, who shares it.
type Config struct {
	Schema, Table string
	LongestText   int64 // bytes of an input or of data that is run
	Leader        Leader
	Group         *routine.Group // all goroutines of the target
	Lanes         *lane.Lanes[*Task]
	Pool          *pool.Pool
	Clock         *Clock
	Log           zerolog.Logger
	Failed        func(error) *zerolog.Event     // begins a line of the log about an error
	Shows         func(group string) [][2]string // settings of sessions that run tasks of a group
	Blame         func(id int64)                 // takes note of a task at which a runner has panicked
	Freed         func()                         // wakes the leader: a session is free
	Ran           func(*Task)                    // for tests: called after the SQL of each task; may be nil
}

// Limits are settings that may change while tasks run.
type Limits struct {
	Run         int
	OutputLimit int64
	OutputFail  bool
}

// Server is what runners have to know of the target's server.
type Server struct {
	Superuser bool   // the role is one
	Encoding  string // of the database
	Bare      bool   // the table has no column for the transaction of a run
}

// Dispatcher starts runners, and holds what they share: it is all that they see of the leader. Any
// goroutine may use it, but Dispatch is the leader's.
type Dispatcher struct {
	Config
	runners   sync.Map // the runners that are at work
	profiles  profiles
	instants  atomic.Int32 // queries of microseconds that runners see to
	unwritten atomic.Int64 // bytes of the outcomes that the leader has not written yet
	searched  time.Time    // when Dispatch looked at all lanes

	// The leader sets them.
	Limits  atomic.Pointer[Limits]
	Server  atomic.Pointer[Server]
	Queries atomic.Pointer[sql.Queries]
	Zone    atomic.Pointer[string] // in which repetitions are counted
	Foreign atomic.Bool            // there are foreign servers: what writes through them has no transaction id here
}

// New returns one that has started nothing.
func New(c Config, limits Limits) *Dispatcher {
	d := &Dispatcher{
		Config:   c,
		profiles: profiles{all: map[like]*profile{}},
	}
	d.Limits.Store(&limits)
	d.Server.Store(&Server{Encoding: "UTF8"})
	return d
}

// All lanes are looked at so often, for so long at most, or as long as one search takes.
const (
	searchTick = 100 * time.Millisecond
	searchMost = 10 * time.Millisecond
)

// Dispatch starts a runner for each task that may start, as far as there are sessions. Where the
// tasks that come first wait for a session, others do not wait for them: from time to time it looks
// at all lanes.
func (d *Dispatcher) Dispatch() {
	fits := func(t *Task) bool { return !d.crowded(t) && d.servable(t) }
	for t := d.Lanes.Tryout(fits); t != nil; t = d.Lanes.Tryout(fits) {
		d.launch(t)
	}
	for t := d.Lanes.Start(fits); t != nil; t = d.Lanes.Start(fits) {
		d.launch(t)
	}
	if time.Since(d.searched) < searchTick {
		return
	}
	d.searched = time.Now()
	for t := d.Lanes.Search(fits); t != nil; t = d.Lanes.Search(fits) {
		d.launch(t)
		if time.Since(d.searched) >= searchMost {
			return
		}
	}
}

// launch starts a runner for the task.
func (d *Dispatcher) launch(t *Task) {
	d.joins(t)
	d.Group.Go(func() { (&runner{Dispatcher: d}).serve(d.Group.Context(), t) })
}

// servable tells whether there is a session for the task, or one may be opened.
func (d *Dispatcher) servable(t *Task) bool {
	return t.need().Place() != "" || !d.Pool.Short() || d.Pool.Fits(t.need()) || d.Pool.Admit()
}

// Fits tells whether a session lies ready that suits the task.
func (d *Dispatcher) Fits(t *Task) bool { return d.Pool.Fits(t.need()) }
