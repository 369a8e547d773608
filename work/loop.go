package work

import (
	"cmp"
	"context"
	"errors"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ends"
	"pgtaskd/work/inbox"
	"pgtaskd/work/install"
	"pgtaskd/work/lane"
	"pgtaskd/work/lead"
	"pgtaskd/work/ledger"
	"pgtaskd/work/mark"
	"pgtaskd/work/pool"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// loop serves one target. Its fields belong to the goroutine that called Serve, unless they say
// otherwise.
type loop struct {
	*shared
	leader  *leader
	duties  []duty
	trouble *trouble
	inbox   *inbox.Inbox
	marks   *mark.Marks
	leads   *lead.Lead
	table   *install.Table
}

func newLoop(ctx context.Context, t target.Target, log *target.Log) *loop {
	t.Changes = cmp.Or(t.Changes, target.NewChanges())
	common := newShared(ctx, t, log)
	l := &loop{shared: common, leader: &leader{shared: common}, trouble: &trouble{log: log}}
	l.inbox = inbox.New(inbox.Config{
		Control: l.control, Longest: t.LongestText(),
		Put:      func(entries ...*ledger.Entry) { l.ledger.Put(entries...) },
		Register: func(ctx context.Context, opened []pool.Backend) error { return l.leads.Register(ctx, opened) },
		Seen: func(o run.Outcome) {
			l.leader.tally.ran(&o)
			l.leader.disk.Seen(&o)
			l.ends.Seen(o)
		},
		ToMark: func(t *run.Task, what run.Marking, answer chan<- run.Answer) { l.marks.Ask(t, what, answer) },
	})
	l.drain = drain{log: log, live: &l.live, tasks: l.tasks, close: func() {
		l.runs.Lanes.Slots.Close()
		l.dropWaiting()
	}}
	l.changes = change.New(change.Config{
		Control: l.control, Holds: l.holds, Log: log, Table: t.Relation(),
		Known: func(id int64) bool { return l.tasks[id] != nil }, Planned: l.leader.want,
	})
	l.ends = l.newEnds()
	l.runs = l.dispatcher()
	l.wake = wake.New(wake.Config{
		Target: l.target, Control: l.control, Notices: &l.notices, Group: l.crew, Log: l.log.Logger, Poke: l.inbox.Wake,
	})
	l.ledger = l.newLedger()
	l.leader.furnish()
	l.marks = l.newMarks()
	l.leads = &lead.Lead{
		Control: l.control, Target: t, Log: log, Version: Version,
		Sessions: l.runs.Pool.Backends, Slots: func() int { return l.live.Load().Run },
	}
	l.table = &install.Table{
		Control: l.control, Target: t, Log: log, Share: l.leads.Share, Drain: l.drain.step, Served: func() bool { return l.trouble.served },
	}
	l.leader.shape = &shape{
		target: &l.target, control: l.control, table: l.table, wake: l.wake, runs: l.runs, queries: &l.queries, path: l.ledger.Follow,
		changed: func() {
			l.leader.scan.All() // nothing may have told us of new tasks meanwhile
			l.leads.Renew()
		},
	}
	l.leader.clear()
	l.duties = l.timetable()
	return l
}

// newEnds writes what has become of tasks; what follows from that for other rooms is told here.
func (l *loop) newEnds() *ends.Ends {
	return ends.New(ends.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks, Log: l.log,
		Later: l.inbox.Later, Want: l.leader.want, Full: func() bool { return l.wake.Full() }, Drains: l.drain.on,
		Ended:  func(e *ends.End, state string) { l.leader.tally.ended(e, state) },
		Counts: func(all []change.Changed) { l.leader.tally.superseded(all) },
		Over: func(o *run.Outcome) {
			l.leader.successors.Over(o.Task.Row.ID)
		},
		Waits: func(t *run.Task) { l.runs.Lanes.Enter(t) },
		Lost:  func(o run.Outcome) { l.leader.judge.Lost.Add(o) },
	})
}

// newMarks are the marks of tasks.
func (l *loop) newMarks() *mark.Marks {
	return mark.New(mark.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks, Log: l.log,
		Clock: l.runs.Clock, Profiles: &l.runs.Profiles, Later: l.inbox.Later, Doubt: l.leader.judge.Watch.Doubt,
		Drains: func() bool { return l.drain.on() },
	})
}

// dispatcher is what starts tasks for the loop.
func (l *loop) dispatcher() *run.Dispatcher {
	clock := &run.Clock{}
	return run.New(run.Config{
		Target: &l.target, Live: &l.live, Leader: l.inbox, Group: l.crew, Clock: clock, Log: l.log.Logger,
		Lanes: lane.New[*run.Task](l.live.Load().Run, read.FreshFor, clock.Now),
		Pool:  pool.New(pool.Config{Target: &l.target, Control: l.control, Group: l.crew, Enrol: l.inbox.Enrol, Log: l.log.Logger}),
		Blame: func(id int64) { l.leader.judge.Panics.Blame(id) },
	})
}

// endTerm gives up what belongs to the term, because of an error or not.
func (l *loop) endTerm(ctx context.Context, err error) {
	if errors.Is(err, control.ErrReadOnly) { // this session may write still, the next one may not
		_ = l.ends.Step(ctx)
	}
	l.dropWaiting()
	l.leader.judge.Orphans.Release()
	l.leader.clear()
	l.closeLater(l.runs.Pool.Stale(0)) // what took the control connection may have taken them, too
}
