package work

import (
	"context"
	"errors"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ends"
	"pgtaskd/work/inbox"
	"pgtaskd/work/install"
	"pgtaskd/work/judge"
	"pgtaskd/work/lane"
	"pgtaskd/work/lead"
	"pgtaskd/work/ledger"
	"pgtaskd/work/mark"
	"pgtaskd/work/pool"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
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
}

// newLoop makes the rooms, each with those that it calls. The inbox and the ends call rooms that are
// made after them.
func newLoop(ctx context.Context, s *service) *loop {
	common := newShared(ctx, s.target, s.trouble.log)
	l := &loop{shared: common, leader: &leader{shared: common}, trouble: s.trouble}
	l.drain.shared = common
	l.inbox = inbox.New(inbox.Config{Control: l.control, Longest: l.target.LongestText(), Seen: l.seen})
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
		Control: l.control, Target: l.target, Log: l.log, Share: l.leads.Share, Drain: l.drain.step, Served: l.trouble.hasServed,
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

// dispatcher is what starts tasks for the loop.
func (l *loop) dispatcher(panics *judge.Panics) *run.Dispatcher {
	clock := &run.Clock{}
	return run.New(run.Config{
		Target: &l.target, Live: &l.live, Leader: l.inbox, Group: l.crew, Clock: clock, Log: l.log.Logger, Blame: panics.Blame,
		Lanes: lane.New[*run.Task](l.live.Load().Run, read.FreshFor, clock.Now),
		Pool:  pool.New(pool.Config{Target: &l.target, Control: l.control, Group: l.crew, Enrol: l.inbox.Enrol, Log: l.log.Logger}),
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
