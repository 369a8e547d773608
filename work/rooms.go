package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/after"
	"pgtaskd/work/change"
	"pgtaskd/work/lane"
	"pgtaskd/work/ledger"
	"pgtaskd/work/mark"
	"pgtaskd/work/plan"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
)

// want has the next round look for what has become due.
func (l *loop) want() { l.scan.Want() }

// newPlanner plans tasks with a cron expression.
func (l *loop) newPlanner() *plan.Planner {
	return plan.New(plan.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Target: l.target, Log: l.log,
		Follows: func(id int64) { l.successors.Add(id) }, Want: l.want, Ended: func(all []change.Changed) { l.tally.counted(all) },
	})
}

// newSuccessors are the tasks that wait for others.
func (l *loop) newSuccessors() *after.Successors {
	return after.New(after.Config{
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
	})
}

// reads makes what finds and reads tasks that are due.
func (l *loop) reads() {
	l.groups = &read.Groups{
		Control: l.control, Table: l.target.Relation(), Lanes: l.runs.Lanes, Clock: l.runs.Clock, Notices: &l.notices,
		Every: func() time.Duration { return l.live.Load().Sleep }, Tells: l.wake.Tells,
		Resumed: func() { l.scan.Resumed() }, Changed: func() { l.shape.seen = time.Time{} },
	}
	l.expire = &read.Expire{Changes: l.changes, Groups: l.groups, Stats: l.stats, Counts: l.tally.counted}
	l.scan = read.NewScan(read.ScanConfig{
		Control: l.control, Holds: l.holds, Tasks: l.tasks, Lanes: l.runs.Lanes, Clock: l.runs.Clock, Wake: l.wake,
		Groups: l.groups, Expire: l.expire, Every: l.every, Alone: l.startAlone,
		Ask: l.askMore, Columns: func(batch *pgx.Batch) { l.shape.queue(batch) }, Asked: l.hearMore,
		Adopt: func(id int64, key lane.Key) { l.judge.Orphans.Adopt(id, key) },
	})
	l.prefetch = read.NewPrefetch(read.PrefetchConfig{
		Target: l.target, Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks,
		Lanes: l.runs.Lanes, Groups: l.groups, Scan: l.scan, Notices: &l.notices,
		Clogged: l.clogged, Dispatch: l.runs.Dispatch, Doubt: l.doubt,
		Elsewhere: func(id int64) bool { return l.judge.Orphans.Has(id) },
		Innocent: func(ctx context.Context, tasks []*run.Task) ([]*run.Task, error) {
			return l.judge.WithoutPanicked(ctx, tasks)
		},
		Follow:  func(ctx context.Context, epoch int64) { l.planner.Zone.Follow(ctx, epoch) },
		Foreign: l.runs.Foreign.Store,
	})
}

// comesNext reads the server's clock and the earliest plan to come: it is our sign of life, where the
// control session has been silent for long, or it has not been seen for long what the table is like.
func (l *loop) comesNext(ctx context.Context) error {
	batch := &pgx.Batch{}
	l.scan.QueueNext(batch)
	if err := l.control.Send(ctx, batch); err != nil {
		return err
	}
	return l.shape.redescribe(ctx)
}

// every is how often all that is due is looked at when nothing says that there is something.
func (l *loop) every() time.Duration {
	return min(l.wake.Every(l.live.Load().Sleep), l.target.Reset)
}

// askMore adds to the first part of a look what the rooms beside it want to know; full tells that it
// looks at all that is due.
func (l *loop) askMore(batch *pgx.Batch, full bool) {
	l.planner.Queue(batch)
	if full {
		l.judge.Orphans.QueueStopping(batch)
	}
}

// hearMore follows on the answers to a part of a look.
func (l *loop) hearMore(ctx context.Context, first bool) error {
	if err := l.shape.redescribe(ctx); err != nil || !first {
		return err
	}
	return l.planner.Step(ctx)
}

// doubt takes note that somebody has changed rows: running tasks may have been stopped, and what
// others wait for may have been deleted.
func (l *loop) doubt() {
	l.successors.Doubt()
	l.watch.Doubt()
}

// clogged tells that so many ends could not be written that we must not make more of them.
func (l *loop) clogged() bool {
	most := 4 * l.live.Load().Run
	return l.ends.Heavy() || l.ends.Len() > most || l.ledger.Len() > most+ledger.Most
}

// newMarks are the marks of tasks.
func (l *loop) newMarks() *mark.Marks {
	return mark.New(mark.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Tries: l.tries, Tasks: l.tasks, Log: l.log,
		Clock: l.runs.Clock, Profiles: &l.runs.Profiles, Later: l.inbox.Later, Doubt: l.watch.Doubt,
		Drains: func() bool { return l.drain.on() },
	})
}
