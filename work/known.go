package work

import "pgtaskd/work/run"

// task is what the loop knows of one that it has read, until its end is written.
type task struct {
	*run.Task
	marked  bool   // its row shows WORK
	noMark  bool   // the table refuses that
	marking putOff // when the row has not taken the mark
	ending  bool   // its end is known, and not yet written
}

// know takes down tasks that were read.
func (l *loop) know(tasks []*run.Task) {
	all := make([]task, len(tasks))
	for i, t := range tasks {
		all[i].Task = t
		l.tasks[t.Row.ID] = &all[i]
	}
}

// known is what we know of a task that comes back to us.
func (l *loop) known(t *run.Task) *task {
	if known := l.tasks[t.Row.ID]; known != nil && known.Task == t {
		return known
	}
	return &task{Task: t}
}
