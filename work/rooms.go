package work

import (
	"pgtaskd/work/after"
	"pgtaskd/work/lane"
	"pgtaskd/work/plan"
)

// want has the next round look for what has become due.
func (l *loop) want() { l.look.wanted = true }

// newPlanner plans tasks with a cron expression.
func (l *loop) newPlanner() *plan.Planner {
	return plan.New(plan.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Target: l.target, Log: l.log,
		Follows: func(id int64) { l.successors.Add(id) }, Want: l.want, Ended: l.counted,
	})
}

// newSuccessors are the tasks that wait for others.
func (l *loop) newSuccessors() *after.Successors {
	return after.New(after.Config{
		Control: l.control, Changes: l.changes, Holds: l.holds, Want: l.want, Ended: l.counted,
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
