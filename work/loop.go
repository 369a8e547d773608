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
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/wake"
)

// loop serves one target. What its fields say of their owner holds: the goroutine that called Serve
// owns the rest.
type loop struct {
	target Target
	log    zerolog.Logger

	*run.Dispatcher // what runners share; any goroutine may use it
	*term           // since we came to lead; an empty one before
	duties          []duty
	trouble         *trouble
	inbox           *inbox
	crew            *routine.Group // all goroutines of the loop, and of its sessions
	panics          *panics
	stats           *Stats
	throttle        throttle
	live            atomic.Pointer[Live]    // those of the target, or what it was told since
	facts           atomic.Pointer[control] // only what does not change after know

	control *control
	tasks   map[int64]*task        // read by us, until their end is written
	begun   map[int64]again        // how often tasks had to be run again for reasons of our own
	unsaid  []end                  // ends that could not be written yet
	lost    map[int64]end          // tasks whose session is gone
	ahead   time.Duration          // how long before: soonAhead, see horizon
	kept    map[string]bool        // what keeps rows from being deleted, and has been logged
	columns string                 // fingerprint of those of the table, as they are
	empty   []int64                // tasks to be deleted whose rows were locked
	asks    []ask                  // not answered yet
	shows   map[string][][2]string // by group, see shown

	wake      *wake.Waker
	postponed time.Time // until then, changes for another way of waking: the table is locked

	completer completer
	reads     func([]*run.Task) // for tests: called with what was read, by the loop; may be nil
	draining  time.Time         // since when; zero: we do not
	cancelled bool              // its grace is over
	crashed   *time.Time        // when the server has crashed last, as far as it tells
	count     int               // tasks ended since the last look at the pace
	surveyed  time.Time         // when the table was looked at for the metrics
	relieved  int               // bytes of the heavy ends that have given their slots back

	registering registering
	presence    presence
}

func newLoop(ctx context.Context, t Target, log zerolog.Logger) *loop {
	l := &loop{
		target: t, log: log, trouble: &trouble{log: log, target: t}, stats: cmp.Or(t.Stats, NewStats()), crew: routine.New(ctx), panics: &panics{}, inbox: newInbox(), shows: map[string][][2]string{},
		term: newTerm(time.Time{}), ahead: soonAhead, completer: completer{told: make(chan written, 1)},
		tasks: map[int64]*task{}, begun: map[int64]again{}, lost: map[int64]end{}, kept: map[string]bool{},
	}
	live := t.live()
	if latest := t.Changes.get(); latest != nil {
		live = *latest
	}
	l.live.Store(&live)
	l.Dispatcher = l.dispatcher(live)
	l.wake, l.duties = l.waker(), l.timetable()
	return l
}

// dispatcher is what starts tasks for the loop.
func (l *loop) dispatcher(live Live) *run.Dispatcher {
	failed := func(err error) *zerolog.Event { return l.target.advised(l.log.Error(), err, true) }
	clock := &run.Clock{}
	return run.New(run.Config{
		Schema: l.target.Schema, Table: l.target.Table, LongestText: l.target.longestText(),
		Leader: l.inbox, Group: l.crew, Clock: clock, Log: l.log, Failed: failed,
		Lanes: lane.New[*run.Task](live.Run, freshForLong, clock.Now),
		Pool: pool.New(pool.Config{
			Group: l.crew, Own: l.ownSession, Elsewhere: l.openRemote, Enrol: l.inbox.register, Log: l.log, Failed: failed,
		}),
		Shows: func(group string) [][2]string { return showsOf(l.target, group) },
		Blame: func(id int64) { l.panics.cause(id) }, Freed: l.inbox.wake,
	}, live.limits())
}

// busy tells whether tasks of ours run, or their ends are still to be written.
func (l *loop) busy() bool { return len(l.tasks) > 0 }

// anyRuns tells whether the SQL of a task of ours runs.
func (l *loop) anyRuns() bool {
	for _, t := range l.tasks {
		if pid, _, _ := t.Runs(); pid != 0 {
			return true
		}
	}
	return false
}

func (l *loop) queries() sql.Queries { return *l.Queries.Load() }
func (l *loop) timeZone() string     { return *l.Zone.Load() }
func (l *loop) encoding() string     { return l.Server.Load().Encoding }
