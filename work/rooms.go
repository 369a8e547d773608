package work

import (
	"pgtaskd/work/after"
	"pgtaskd/work/judge"
	"pgtaskd/work/keep"
	"pgtaskd/work/lane"
	"pgtaskd/work/plan"
	"pgtaskd/work/read"
	"pgtaskd/work/target"
)

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
		Clogged: l.clogged, Dispatch: l.runs.Dispatch, Doubt: l.doubt, Elsewhere: l.judge.Orphans.Has,
		Innocent: l.judge.WithoutPanicked, Epoch: l.planner.Refresh, Foreign: l.runs.Foreign.Store,
	}
	l.walk = &keep.Walk{Control: l.control, Changes: l.changes, Log: l.log, Keep: func() target.Keep { return l.live.Load().Keep }}
	l.disk = &keep.Disk{Control: l.control, Log: l.log, Stats: l.stats, Halt: l.runs.Lanes.Slots.Halt}
}

// reads makes what finds tasks that are due.
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

// judges makes what sees to what was cut off, and to what somebody has stopped.
func (l *leader) judges(panics *judge.Panics) {
	l.judge = judge.New(judge.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Log: l.log, Tasks: l.tasks,
		Lanes: l.runs.Lanes, Clock: l.runs.Clock, Panics: panics, Prefix: l.target.SessionPrefix(), PIDs: l.runs.Pool.PIDs,
		Place:   l.ledger.Place,
		Partial: l.scan.Partial, Pending: l.scan.Pending, Sleep: l.poll,
		Ended: l.judged, Over: l.ends.Drop, Write: l.ends.Add, Want: l.want,
	})
}

// ready is how many tasks are known to be due.
func (l *leader) ready() int {
	_, _, ready := l.runs.Lanes.Load()
	return ready
}

// free lets a successor start that waits no more.
func (l *leader) free(group, remote []byte, successor lane.Rank) {
	if !l.tasks.Has(successor.ID) {
		l.runs.Lanes.Add(group, remote, successor)
	}
}
