package work

import (
	"context"
	"errors"
	"sync/atomic"

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
	"pgtaskd/work/place"
	"pgtaskd/work/plan"
	"pgtaskd/work/pool"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// loop serves one target. Its fields belong to the goroutine that called Serve (see doc.go).
type loop struct {
	*shared
	leader  *leader
	duties  []duty
	trouble *trouble
	inbox   *inbox.Inbox
}

// newLoop makes the rooms. Each gets the rooms and values that it needs, and the functions by which
// it tells others. A room comes after those that it needs. Where two rooms need each other, the
// earlier one gets the later one at the end.
func newLoop(ctx context.Context, s *service) *loop {
	common := newShared(ctx, s.target, s.trouble.log)
	l := &loop{shared: common, leader: &leader{shared: common}, trouble: s.trouble}
	l.drain.shared = common
	l.reach(s.panics, &s.places)
	l.leader.plans()      // needs control and changes
	l.leader.reads()      // needs waker and lanes
	l.concludes(s.panics) // needs successors and scan
	l.leader.keeps()

	l.inbox.Put, l.inbox.ToMark = l.ledger.Put, l.marks.Ask
	l.leader.groups.Scan, l.leader.scan.Adopt = l.leader.scan, l.leader.judge.Orphans.Adopt
	l.ends.Lost = l.leader.judge.Lost.Add
	l.leader.clear()
	l.duties = l.timetable()
	return l
}

// reach makes the rooms that reach the table and the sessions.
func (l *loop) reach(panics *judge.Panics, places *place.Memory) {
	l.inbox = inbox.New(inbox.Config{Control: l.control, Longest: l.target.LongestText(), Seen: l.leader.seen})
	clock := &run.Clock{}
	l.runs = run.New(run.Config{
		Target: &l.target, Live: &l.live, Leader: l.inbox, Group: l.crew, Clock: clock, Log: l.log.Logger, Blame: panics.Blame,
		Lanes: lane.New[*run.Task](l.live.Load().Run, read.FreshFor, clock.Now),
		Pool:  pool.New(pool.Config{Target: &l.target, Control: l.control, Group: l.crew, Enrol: l.inbox.Enrol, Log: l.log.Logger}),
	})
	l.ledger = ledger.New(ledger.Config{
		Group: l.crew, Target: l.target, Control: l.control, Pool: l.runs.Pool, Wake: l.inbox.Wake,
	})
	l.wake = wake.New(wake.Config{
		Target: l.target, Control: l.control, Notices: &l.notices, Group: l.crew, Log: l.log.Logger, Poke: l.inbox.Wake,
	})
	l.leads = &lead.Lead{
		Control: l.control, Target: l.target, Log: l.log, Controller: l.target.Controller, Version: Version, Live: &l.live, Pool: l.runs.Pool,
	}
	l.table = &install.Table{
		Control: l.control, Target: l.target, Log: l.log, Served: &l.trouble.served, Share: l.leads.Share, Places: places,
	}
	l.changes = change.New(change.Config{
		Control: l.control, Holds: l.holds, Log: l.log, Table: l.target.Relation(), Ours: l.tasks, Ended: l.leader.counted,
	})
	l.rows = change.Rows{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: hold.NewTries(), Tasks: l.tasks, Log: l.log,
	}
}

// concludes makes the rooms that write marks and ends, the one that judges runs that were cut off
// and tasks that somebody has stopped, and the one that reads the tasks that the judge lets start.
func (l *loop) concludes(panics *judge.Panics) {
	l.ends = ends.New(ends.Config{
		Rows: l.rows, Stats: l.stats, Runs: l.runs,
		Later: l.inbox.Later, Full: l.wake.Full, Ended: l.leader.ended, Over: l.leader.successors.Over,
	})
	l.leader.judge = judge.New(judge.Config{
		Rows: l.rows, Live: &l.live, Runs: l.runs, Panics: panics, Prefix: pool.SessionPrefix(&l.target),
		Place: l.ledger.Place, Later: l.inbox.Later, Partial: l.leader.scan.Partial, Pending: l.leader.scan.Pending,
		Ended: l.leader.judged, Over: l.ends.Drop, Write: l.ends.Add,
	})
	l.marks = mark.New(mark.Config{
		Rows: l.rows, Runs: l.runs, Later: l.inbox.Later, Doubt: l.leader.judge.Watch.Doubt,
	})
	l.leader.prefetch = &read.Prefetch{
		Rows: l.rows, Target: l.target, Runs: l.runs, Groups: l.leader.groups, Scan: l.leader.scan, Notices: &l.notices,
		Clogged: l.leader.clogged, Startable: l.leader.judge.Startable, Epoch: l.leader.planner.Refresh,
	}
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
	changes *change.Changer
	rows    change.Rows
	ends    *ends.Ends
	marks   *mark.Marks
	ledger  *ledger.Ledger
	leads   *lead.Lead
	table   *install.Table
	drain   drain
}

func newShared(ctx context.Context, t target.Target, log *target.Log) *shared {
	s := &shared{
		target: t, log: log, stats: t.Stats, crew: routine.New(ctx),
		tasks: inflight.Tasks{}, holds: hold.NewHolds(),
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

// load is the target's Load.
func (s *shared) load() (running, ready, sessions int, closed string) {
	busy, prefetched, ready := s.runs.Lanes.Load()
	return busy, prefetched + ready, s.runs.Pool.Count(), s.runs.Pool.Closed()
}

// busy tells whether tasks of ours run, or their ends are not yet written.
func (s *shared) busy() bool { return len(s.tasks) > 0 }

// plans makes the rooms that decide when tasks are due.
func (l *leader) plans() {
	l.successors = &after.Successors{
		Control: l.control, Changes: l.changes, Holds: l.holds, Ready: l.ready, Free: l.free,
	}
	l.planner = &plan.Planner{
		Control: l.control, Changes: l.changes, Holds: l.holds, Target: l.target, Log: l.log, After: l.successors.Add,
	}
}

// reads makes the rooms that find due tasks.
func (l *leader) reads() {
	l.shape = &shape{shared: l.shared}
	l.groups = &read.Groups{
		Control: l.control, Table: l.target.Relation(), Lanes: l.runs.Lanes, Clock: l.runs.Clock, Wake: l.wake,
		Live: &l.live, Changed: l.shape.forget,
	}
	l.expire = &read.Expire{Changes: l.changes, Groups: l.groups, Stats: l.stats}
	l.scan = &read.Scan{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tasks: l.tasks, Lanes: l.runs.Lanes, Clock: l.runs.Clock,
		Wake: l.wake, Groups: l.groups, Expire: l.expire, Live: &l.live, Reset: l.target.Reset,
		Alone: l.startAlone, Ask: l.askMore, Columns: l.shape.queue, Asked: l.hearMore,
	}
}

// keeps makes the rooms that look after the table and the disk.
func (l *leader) keeps() {
	l.walk = &keep.Walk{Control: l.control, Changes: l.changes, Log: l.log, Live: &l.live}
	l.disk = &keep.Disk{Control: l.control, Log: l.log, Stats: l.stats, Runs: l.runs}
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
