package work

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/after"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ends"
	"pgtaskd/work/hold"
	"pgtaskd/work/inbox"
	"pgtaskd/work/inflight"
	"pgtaskd/work/install"
	"pgtaskd/work/judge"
	"pgtaskd/work/keep"
	"pgtaskd/work/lane"
	"pgtaskd/work/lead"
	"pgtaskd/work/ledger"
	"pgtaskd/work/mark"
	"pgtaskd/work/plan"
	"pgtaskd/work/pool"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// loop serves one target. Its fields belong to the goroutine that called Serve, unless marked
// shared.
type loop struct {
	*shared
	leader  *leader
	duties  []duty
	trouble *trouble
	inbox   *inbox.Inbox
	marks   *mark.Marks
}

// newLoop makes the rooms, and gives each the rooms that it calls. The inbox and the ends get the
// rooms that are made later at the end.
func newLoop(ctx context.Context, s *service) *loop {
	common := newShared(ctx, s.target, s.trouble.log)
	l := &loop{shared: common, leader: &leader{shared: common}, trouble: s.trouble}
	l.drain.shared = common
	l.inbox = inbox.New(inbox.Config{Control: l.control, Longest: l.target.LongestText(), Seen: l.leader.seen})
	l.runs = l.dispatcher(s.panics)
	l.changes = change.New(change.Config{
		Control: l.control, Holds: l.holds, Log: l.log, Table: l.target.Relation(), Known: l.tasks.Has, Planned: l.leader.want,
	})
	l.wake = wake.New(wake.Config{
		Target: l.target, Control: l.control, Notices: &l.notices, Group: l.crew, Log: l.log.Logger, Poke: l.inbox.Wake,
	})
	l.ledger = ledger.New(ledger.Config{
		Group: l.crew, Target: l.target, Pool: l.runs.Pool, Wake: l.inbox.Wake, Queries: l.control.Queries,
	})
	l.leads = &lead.Lead{
		Control: l.control, Target: l.target, Log: l.log, Version: Version, Live: &l.live, Sessions: l.runs.Pool.Backends,
	}
	l.table = &install.Table{
		Control: l.control, Target: l.target, Log: l.log, Share: l.leads.Share, Served: l.trouble.hasServed,
	}
	l.ends = ends.New(ends.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks, Log: l.log,
		Later: l.inbox.Later, Want: l.leader.want, Full: l.wake.Full, Drains: l.drain.on,
		Ended: l.leader.ended, Counts: l.leader.superseded, Over: l.leader.over, Waits: l.runs.Lanes.Enter,
	})
	l.leader.furnish(s.panics)
	l.ends.Lost = l.leader.judge.Lost.Add
	l.marks = mark.New(mark.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks, Log: l.log,
		Clock: l.runs.Clock, Profiles: &l.runs.Profiles, Later: l.inbox.Later, Doubt: l.leader.judge.Watch.Doubt, Drains: l.drain.on,
	})
	l.inbox.Put, l.inbox.Register, l.inbox.ToMark = l.ledger.Put, l.leads.Register, l.marks.Ask
	l.leader.clear()
	l.duties = l.timetable()
	return l
}

// dispatcher makes the room that starts tasks for the loop.
func (l *loop) dispatcher(panics *judge.Panics) *run.Dispatcher {
	clock := &run.Clock{}
	return run.New(run.Config{
		Target: &l.target, Live: &l.live, Leader: l.inbox, Group: l.crew, Clock: clock, Log: l.log.Logger, Blame: panics.Blame,
		Lanes: lane.New[*run.Task](l.live.Load().Run, read.FreshFor, clock.Now),
		Pool:  pool.New(pool.Config{Target: &l.target, Control: l.control, Group: l.crew, Enrol: l.inbox.Enrol, Log: l.log.Logger}),
	})
}

// endTerm gives up what belongs to the term, after an error or not.
func (l *loop) endTerm(ctx context.Context, err error) {
	if errors.Is(err, control.ErrReadOnly) { // this session may still write, the next one may not
		_ = l.ends.Step(ctx)
	}
	l.dropWaiting()
	l.leader.judge.Orphans.Release()
	l.leader.clear()
	l.closeLater(l.runs.Pool.Stale(0)) // the failure of the control connection may have cut them off, too
}

// shared is the state that the loop and its leader share. It outlasts terms.
type shared struct {
	target  target.Target
	log     *target.Log
	stats   *target.Stats
	live    atomic.Pointer[target.Live] // current settings of the target; any goroutine may read them
	crew    *routine.Group              // all goroutines of the loop and of its sessions
	control *control.Control
	notices wake.Notices
	wake    *wake.Waker
	runs    *run.Dispatcher // any goroutine may use it
	tasks   inflight.Tasks  // tasks that we have read, until their ends are written
	holds   *hold.Holds     // tasks that could not be taken just now, or that have refused a change
	tries   *hold.Tries
	changes *change.Changer
	ends    *ends.Ends
	ledger  *ledger.Ledger
	leads   *lead.Lead
	table   *install.Table
	drain   drain
}

func newShared(ctx context.Context, t target.Target, log *target.Log) *shared {
	s := &shared{
		target: t, log: log, stats: t.Stats, crew: routine.New(ctx),
		tasks: inflight.Tasks{}, holds: hold.NewHolds(), tries: hold.NewTries(),
	}
	s.live.Store(&s.target.Live)
	if latest := t.Changes.Latest(); latest != nil {
		s.live.Store(latest)
	}
	s.control = control.New(t, func(n *pgconn.Notification, own uint32) { s.notices.Take(n, sql.Channel(t.Relation()), own) })
	return s
}

// closeLater closes sessions while the loop goes on: a server may take a while to close them.
func (s *shared) closeLater(old []*pool.Session) {
	if len(old) > 0 {
		s.crew.Go(func() { pool.Close(old) })
	}
}

// dropWaiting forgets all tasks that were read and have not started.
func (s *shared) dropWaiting() {
	s.tasks.Forget(s.runs.Lanes.Forget())
}

// load counts running tasks, due tasks that wait, and sessions. Any goroutine may call it.
func (s *shared) load() (running, ready, sessions int) {
	busy, prefetched, ready := s.runs.Lanes.Load()
	return busy, prefetched + ready, s.runs.Pool.Count()
}

// busy tells whether tasks of ours run, or their ends are not yet written.
func (s *shared) busy() bool { return len(s.tasks) > 0 }

// poll is how often to scan if nothing reports changes.
func (s *shared) poll() time.Duration { return s.live.Load().Sleep }

// furnish makes the rooms of the leader.
func (l *leader) furnish(panics *judge.Panics) {
	l.shape = &shape{shared: l.shared}
	l.successors = &after.Successors{
		Control: l.control, Changes: l.changes, Holds: l.holds, Ready: l.ready, Free: l.free, Want: l.want, Ended: l.counted,
	}
	l.planner = &plan.Planner{
		Control: l.control, Changes: l.changes, Holds: l.holds, Target: l.target, Log: l.log,
		After: l.successors.Add, Want: l.want, Ended: l.counted,
	}
	l.reads()
	l.judges(panics)
	l.scan.Adopt = l.judge.Orphans.Adopt
	l.prefetch = &read.Prefetch{
		Target: l.target, Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks,
		Lanes: l.runs.Lanes, Groups: l.groups, Scan: l.scan, Notices: &l.notices,
		Clogged: l.clogged, Dispatch: l.runs.Dispatch, Doubt: l.doubt, Startable: l.judge.Startable,
		Epoch: l.planner.Refresh, Foreign: l.runs.Foreign.Store,
	}
	l.walk = &keep.Walk{Control: l.control, Changes: l.changes, Log: l.log, Keep: func() target.Keep { return l.live.Load().Keep }}
	l.disk = &keep.Disk{Control: l.control, Log: l.log, Stats: l.stats, Halt: l.runs.Lanes.Slots.Halt}
}

// reads makes the rooms that find due tasks.
func (l *leader) reads() {
	l.groups = &read.Groups{
		Control: l.control, Table: l.target.Relation(), Lanes: l.runs.Lanes, Clock: l.runs.Clock, Notices: &l.notices,
		Every: l.poll, Tells: l.wake.Tells, Changed: l.shape.forget,
	}
	l.expire = &read.Expire{Changes: l.changes, Groups: l.groups, Stats: l.stats, Counts: l.counted}
	l.scan = &read.Scan{
		Control: l.control, Holds: l.holds, Tasks: l.tasks, Lanes: l.runs.Lanes, Clock: l.runs.Clock, Wake: l.wake,
		Groups: l.groups, Expire: l.expire, Every: l.every, Alone: l.startAlone,
		Ask: l.askMore, Columns: l.shape.queue, Asked: l.hearMore,
	}
	l.groups.Resumed = l.scan.Resumed
}

// judges makes the room that judges runs that were cut off, and tasks that somebody has stopped.
func (l *leader) judges(panics *judge.Panics) {
	l.judge = judge.New(judge.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Log: l.log, Tasks: l.tasks,
		Lanes: l.runs.Lanes, Clock: l.runs.Clock, Panics: panics, Prefix: pool.SessionPrefix(&l.target), PIDs: l.runs.Pool.PIDs,
		Place:   l.ledger.Place,
		Partial: l.scan.Partial, Pending: l.scan.Pending, Sleep: l.poll,
		Ended: l.judged, Over: l.ends.Drop, Write: l.ends.Add, Want: l.want,
	})
}

// ready is the number of tasks that are known to be due.
func (l *leader) ready() int {
	_, _, ready := l.runs.Lanes.Load()
	return ready
}

// free puts a successor that waits no more into its lane.
func (l *leader) free(group, remote []byte, successor lane.Rank) {
	if !l.tasks.Has(successor.ID) {
		l.runs.Lanes.Add(group, remote, successor)
	}
}
