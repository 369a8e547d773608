package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/after"
	"pgtaskd/work/change"
	"pgtaskd/work/judge"
	"pgtaskd/work/keep"
	"pgtaskd/work/lane"
	"pgtaskd/work/plan"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// furnish makes the rooms of the leader.
func (l *leader) furnish() {
	l.successors, l.planner = l.newSuccessors(), l.newPlanner()
	l.tally = &tally{
		log: l.log, stats: l.stats, after: l.successors, empty: l.ends.Deletes.Later,
		encoding: func() string { return l.control.Facts().Encoding },
	}
	l.reads()
	l.judge = l.newJudge()
	l.walk = &keep.Walk{Control: l.control, Changes: l.changes, Log: l.log, Keep: func() target.Keep { return l.live.Load().Keep }}
	l.disk = &keep.Disk{Control: l.control, Log: l.log, Stats: l.stats, Halt: l.runs.Lanes.Slots.Halt}
}

// newPlanner plans tasks with a cron expression.
func (l *leader) newPlanner() *plan.Planner {
	return &plan.Planner{
		Control: l.control, Changes: l.changes, Holds: l.holds, Target: l.target, Log: l.log,
		After: func(id int64) { l.successors.Add(id) }, Want: l.want, Ended: func(all []change.Changed) { l.tally.counted(all) },
	}
}

// newSuccessors are the tasks that wait for others.
func (l *leader) newSuccessors() *after.Successors {
	return &after.Successors{
		Control: l.control, Changes: l.changes, Holds: l.holds, Want: l.want, Ended: func(all []change.Changed) { l.tally.counted(all) },
		Ready: func() int {
			_, _, ready := l.runs.Lanes.Load()
			return ready
		},
		Free: func(group, remote []byte, successor lane.Rank) {
			if l.tasks[successor.ID] == nil {
				l.runs.Lanes.Add(group, remote, successor)
			}
		},
	}
}

// reads makes what finds and reads tasks that are due.
func (l *leader) reads() {
	l.groups = &read.Groups{
		Control: l.control, Table: l.target.Relation(), Lanes: l.runs.Lanes, Clock: l.runs.Clock, Notices: &l.notices,
		Every: func() time.Duration { return l.live.Load().Sleep }, Tells: l.wake.Tells,
		Resumed: func() { l.scan.Resumed() }, Changed: func() { l.shape.seen = time.Time{} },
	}
	l.expire = &read.Expire{Changes: l.changes, Groups: l.groups, Stats: l.stats, Counts: l.tally.counted}
	l.scan = &read.Scan{
		Control: l.control, Holds: l.holds, Tasks: l.tasks, Lanes: l.runs.Lanes, Clock: l.runs.Clock, Wake: l.wake,
		Groups: l.groups, Expire: l.expire, Every: l.every, Alone: l.startAlone,
		Ask: l.askMore, Columns: func(batch *pgx.Batch) { l.shape.queue(batch) }, Asked: l.hearMore,
		Adopt: func(id int64, key lane.Key) { l.judge.Orphans.Adopt(id, key) },
	}
	l.prefetch = &read.Prefetch{
		Target: l.target, Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks,
		Lanes: l.runs.Lanes, Groups: l.groups, Scan: l.scan, Notices: &l.notices,
		Clogged: l.clogged, Dispatch: l.runs.Dispatch, Doubt: l.doubt,
		Elsewhere: func(id int64) bool { return l.judge.Orphans.Has(id) },
		Innocent: func(ctx context.Context, tasks []*run.Task) ([]*run.Task, error) {
			return l.judge.WithoutPanicked(ctx, tasks)
		},
		Epoch:   func(ctx context.Context, epoch int64) { l.planner.Refresh(ctx, epoch) },
		Foreign: l.runs.Foreign.Store,
	}
}

// newJudge sees to what was cut off, and to what somebody has stopped.
func (l *leader) newJudge() *judge.Judge {
	return judge.New(judge.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Log: l.log, Tasks: l.tasks, Lanes: l.runs.Lanes, Clock: l.runs.Clock,
		Panics: &judge.Panics{}, Prefix: l.target.SessionPrefix(), PIDs: l.runs.Pool.PIDs, Place: l.ledger.Place,
		Partial: l.scan.Partial, Pending: l.scan.Pending, Sleep: func() time.Duration { return l.live.Load().Sleep },
		Ended: l.tally.judged, Over: l.ends.Drop, Write: l.ends.Add, Want: l.want,
	})
}
