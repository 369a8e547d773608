package inflight

import (
	"maps"
	"slices"
	"time"

	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// Task is one of them.
type Task struct {
	*run.Task
	Marked  bool         // its row shows WORK
	NoMark  bool         // the table refuses that
	Marking hold.Backoff // when the row has not taken the mark
	Ending  bool         // its end is known, and not yet written
	Due     time.Time    // when a scan last found it due, by the server's clock
}

// Tasks are all of them, by their ids.
type Tasks map[int64]*Task

// Know takes down tasks that were read.
func (t Tasks) Know(tasks []*run.Task) {
	all := make([]Task, len(tasks))
	for i, one := range tasks {
		all[i].Task = one
		t[one.Row.ID] = &all[i]
	}
}

// Known is what is known of a task that comes back to us.
func (t Tasks) Known(one *run.Task) *Task {
	if known := t[one.Row.ID]; known != nil && known.Task == one {
		return known
	}
	return &Task{Task: one}
}

// Forget forgets tasks that have not started.
func (t Tasks) Forget(tasks []*run.Task) {
	for _, one := range tasks {
		delete(t, one.Row.ID)
	}
}

// AnyRuns tells whether the SQL of one of them runs.
func (t Tasks) AnyRuns() bool {
	for _, one := range t {
		if pid, _, _ := one.Runs(); pid != 0 {
			return true
		}
	}
	return false
}

// AnyUnended tells whether the end of one of them is not known yet.
func (t Tasks) AnyUnended() bool {
	for _, one := range t {
		if !one.Ending {
			return true
		}
	}
	return false
}

// IDs are theirs, in order.
func (t Tasks) IDs() []int64 { return slices.Sorted(maps.Keys(t)) }
