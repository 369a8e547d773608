package work

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/exec/fault"
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

// loop serves one target. What its fields say of their owner holds: the goroutine that called Serve
// owns the rest.
type loop struct {
	target target.Target
	log    *target.Log

	runs    *run.Dispatcher // any goroutine may use it
	duties  []duty
	trouble *trouble
	inbox   *inbox.Inbox
	crew    *routine.Group // all goroutines of the loop, and of its sessions
	stats   *target.Stats
	live    atomic.Pointer[target.Live] // those of the target, or what it was told since

	control *control.Control
	notices wake.Notices
	leads   *lead.Lead
	table   *install.Table
	shape   *shape
	tally   *tally
	pace    pace
	tasks   inflight.Tasks // read by us, until their end is written
	holds   *hold.Holds    // tasks that could not be taken just now, or have refused a change
	tries   *hold.Tries
	changes *change.Changer
	ends    *ends.Ends
	marks   *mark.Marks
	ledger  *ledger.Ledger

	groups   *read.Groups
	expire   *read.Expire
	scan     *read.Scan
	prefetch *read.Prefetch

	successors *after.Successors
	planner    *plan.Planner

	judge *judge.Judge
	watch *judge.Watch
	walk  *keep.Walk
	disk  *keep.Disk
	wake  *wake.Waker

	drain drain
}

func newLoop(ctx context.Context, t target.Target, log *target.Log) *loop {
	t.Changes = cmp.Or(t.Changes, target.NewChanges())
	l := &loop{
		target: t, log: log, trouble: &trouble{log: log}, stats: cmp.Or(t.Stats, target.NewStats()),
		crew:  routine.New(ctx),
		tasks: inflight.Tasks{}, holds: hold.NewHolds(), tries: hold.NewTries(),
	}
	live := t.Live
	if latest := t.Changes.Latest(); latest != nil {
		live = *latest
	}
	l.live.Store(&live)
	l.drain = drain{log: log, live: &l.live, tasks: l.tasks, close: func() {
		l.runs.Lanes.Slots.Close()
		l.dropWaiting()
	}}
	l.control = control.New(t, func(n *pgconn.Notification, own uint32) { l.notices.Take(n, sql.Channel(t.Relation()), own) })
	l.inbox = inbox.New(inbox.Config{
		Control: l.control, Longest: t.LongestText(),
		Put:      func(entries ...*ledger.Entry) { l.ledger.Put(entries...) },
		Register: func(ctx context.Context, opened []pool.Backend) error { return l.leads.Register(ctx, opened) },
	})
	l.changes = change.New(change.Config{
		Control: l.control, Holds: l.holds, Log: log, Table: t.Relation(),
		Known: func(id int64) bool { return l.tasks[id] != nil }, Planned: l.want,
	})
	l.ends = ends.New(ends.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks, Log: log,
		Later: l.inbox.Later, Want: l.want, Full: func() bool { return l.wake.Full() },
		Drains: l.drain.on, Ended: func(e *ends.End, state string) { l.tally.ended(e, state) },
		Counts: func(all []change.Changed) { l.tally.superseded(all) },
		Over: func(o *run.Outcome) {
			l.runs.Wrote(*o)
			l.successors.Over(o.Task.Row.ID)
			l.pace.ended++
		},
		Waits: func(t *run.Task) { l.runs.Lanes.Enter(t) }, Lost: func(o run.Outcome) { l.judge.Lost.Add(o) },
	})
	l.runs = l.dispatcher(live)
	l.wake = l.waker()
	l.pace.lanes = l.runs.Lanes
	l.successors, l.planner = l.newSuccessors(), l.newPlanner()
	l.tally = &tally{
		log: log, stats: l.stats, after: l.successors, empty: l.ends.Deletes.Later,
		encoding: func() string { return l.control.Facts().Encoding },
	}
	l.reads()
	l.ledger = l.newLedger()
	l.judge, l.watch = l.judges()
	l.marks = l.newMarks()
	l.walk = keep.NewWalk(l.control, l.changes, log, func() target.Keep { return l.live.Load().Keep })
	l.disk = keep.NewDisk(l.control, log, l.stats, l.runs.Lanes.Slots.Halt)
	l.leads = lead.New(lead.Config{
		Control: l.control, Target: t, Log: log, Version: Version, Zone: l.planner.Zone.Name, Sessions: l.runs.Pool.Backends,
		Slots: func() int { return l.live.Load().Run },
	})
	l.table = install.New(install.Config{
		Control: l.control, Target: t, Log: log, Share: l.leads.Share, Drain: l.drain.step, Served: func() bool { return l.trouble.served },
	})
	l.shape = &shape{
		target: &l.target, control: l.control, table: l.table, wake: l.wake, notices: &l.notices, runs: l.runs, path: l.ledger.Follow,
		changed: func() {
			l.scan.All() // nothing may have told us of new tasks meanwhile
			l.leads.Renew()
		},
	}
	l.duties = l.timetable()
	return l
}

// dispatcher is what starts tasks for the loop.
func (l *loop) dispatcher(live target.Live) *run.Dispatcher {
	failed := func(err error) *zerolog.Event { return fault.Advised(l.log.Error(), err) }
	clock, open := &run.Clock{}, opener{&l.target, l.control}
	return run.New(run.Config{
		Schema: l.target.Schema, Table: l.target.Table, LongestText: l.target.LongestText(),
		Leader: l.inbox, Group: l.crew, Clock: clock, Log: l.log.Logger, Failed: failed,
		Lanes: lane.New[*run.Task](live.Run, read.FreshFor, clock.Now),
		Pool: pool.New(pool.Config{
			Group: l.crew, Own: open.own, Elsewhere: open.elsewhere, Enrol: l.inbox.Enrol, Log: l.log.Logger, Failed: failed,
		}),
		Shows: func(group string) [][2]string { return showsOf(l.target, group) },
		Blame: func(id int64) { l.judge.Panics.Blame(id) }, Freed: l.inbox.Wake,
	}, limits(live))
}

// judges see to what was cut off, and to what somebody has stopped.
func (l *loop) judges() (*judge.Judge, *judge.Watch) {
	return judge.New(judge.Config{
			Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Log: l.log, Tasks: l.tasks, Lanes: l.runs.Lanes, Clock: l.runs.Clock,
			Panics: &judge.Panics{}, Prefix: l.target.SessionPrefix(), PIDs: l.runs.Pool.PIDs, Place: l.ledger.Place,
			Partial: l.scan.Partial, Ended: l.tally.judged, Over: l.ends.Drop, Write: l.ends.Add, Want: l.want,
		}), judge.NewWatch(judge.WatchConfig{
			Control: l.control, Tasks: l.tasks, Lanes: l.runs.Lanes, Sleep: func() time.Duration { return l.live.Load().Sleep },
			Pending: l.scan.Pending, Want: l.want,
		})
}

// load is what runs, is due and does not, and how many sessions there are. Any goroutine may call it.
func (l *loop) load() (running, ready, sessions int) {
	busy, prefetched, ready := l.runs.Lanes.Load()
	return busy, prefetched + ready, l.runs.Pool.Count()
}

// busy tells whether tasks of ours run, or their ends are still to be written.
func (l *loop) busy() bool { return len(l.tasks) > 0 }

func (l *loop) queries() sql.Queries { return *l.runs.Queries.Load() }

// begin finds out where things stand when a term begins.
func (l *loop) begin(ctx context.Context) error {
	l.clear()
	l.judge.Begin(l.runs.Clock.Now())
	l.watch.Begin()
	var used bool // tasks have been written to the table: pauses may be under way
	var crashed *time.Time
	if err := l.control.Row(ctx, "used", nil, &used, &crashed); err != nil {
		return err
	}
	if used {
		l.runs.Lanes.Doubt()
	}
	if err := l.groups.Step(ctx); err != nil {
		return err
	}
	l.prefetch.Begin(crashed)
	l.ends.DropForgotten(crashed)
	if err := l.scan.Begin(ctx); err != nil {
		return err
	}
	return l.judge.Orphans.Clear(ctx)
}

// clear drops what belongs to a term: nothing of it outlasts that.
func (l *loop) clear() {
	l.holds.Clear()
	l.groups.Clear()
	l.expire.Clear()
	l.scan.Clear()
	l.successors.Clear()
	l.planner.Clear()
	l.shape.seen = time.Time{}
	l.pace.ended = 0
}

// endTerm gives up what belongs to the term, because of an error or not.
func (l *loop) endTerm(ctx context.Context, err error) {
	if errors.Is(err, control.ErrReadOnly) { // this session may write still, the next one may not
		_ = l.ends.Step(ctx)
	}
	l.dropWaiting()
	l.judge.Orphans.Release()
	l.clear()
	l.closeLater(l.runs.Pool.Stale(0)) // what took the control connection may have taken them, too
}

// dropWaiting forgets all that was read and has not started.
func (l *loop) dropWaiting() {
	l.tasks.Forget(l.runs.Lanes.Forget())
}
