package inflight

import (
	"context"
	"maps"
	"slices"

	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// Task is a task that the leader has read.
type Task struct {
	*run.Task
	Marked  bool         // the row shows WORK
	NoMark  bool         // the table refuses the mark
	Marking hold.Backoff // wait before the next try to mark
	Ending  bool         // the end is known, and not yet written
}

// Tasks has all these tasks, by id.
type Tasks map[int64]*Task

// Know adds tasks that were read.
func (t Tasks) Know(tasks []*run.Task) {
	all := make([]Task, len(tasks))
	for i, one := range tasks {
		all[i].Task = one
		t[one.Row.ID] = &all[i]
	}
}

// Has tells whether a task with that id is known.
func (t Tasks) Has(id int64) bool { return t[id] != nil }

// Known returns the record of a task that comes back from a runner; a new one if there is none.
func (t Tasks) Known(one *run.Task) *Task {
	if known := t[one.Row.ID]; known != nil && known.Task == one {
		return known
	}
	return &Task{Task: one}
}

// Forget forgets these tasks, which have not started.
func (t Tasks) Forget(tasks []*run.Task) {
	for _, one := range tasks {
		delete(t, one.Row.ID)
	}
}

// AnyRuns tells whether the SQL of any task runs.
func (t Tasks) AnyRuns() bool {
	for _, one := range t {
		if pid, _, _ := one.Runs(); pid != 0 {
			return true
		}
	}
	return false
}

// AnyUnended tells whether the end of any task is still unknown.
func (t Tasks) AnyUnended() bool {
	for _, one := range t {
		if !one.Ending {
			return true
		}
	}
	return false
}

// IDs returns the ids of the tasks, in order.
func (t Tasks) IDs() []int64 { return slices.Sorted(maps.Keys(t)) }

// Claim is what the row of our task shows if nobody has changed it.
type Claim struct {
	ID      int64
	Version uint32 // of the row that was read
	PID     int32  // of the session for which the row is marked
	Xact    int64  // transaction with which the row is prepared; 0: it is not prepared
}

// ClaimOf returns the claim for a task that runs on the session pid.
func ClaimOf(t *Task, pid int32) Claim { return Claim{t.Row.ID, t.Row.Version, pid, t.Xact()} }

// Standing is what a row shows now.
type Standing struct {
	State    string // "": there is no row
	Ours     bool   // the row is still as we have left it
	Stopping bool   // set to STOP while under way, and without an end
	Recalls  bool   // the row is prepared, and remembers a STOP
	Undone   bool   // the row is prepared, and the server does not say that its transaction was committed
}

// UnderWay tells whether the task may run, on any session.
func (s Standing) UnderWay() bool { return s.State == "TAKE" || s.State == "WORK" || s.Stopping }

// Standings reads what the rows show now. If several rows have one id, as in a partitioned table,
// ours counts, else one whose task may run.
func Standings(ctx context.Context, c *control.Control, claims []Claim) (map[int64]Standing, error) {
	all := make(map[int64]Standing, len(claims))
	if len(claims) == 0 {
		return all, nil
	}
	var ids, pids, versions, xacts []int64
	for _, one := range claims {
		ids, pids = append(ids, one.ID), append(pids, int64(one.PID))
		versions, xacts = append(versions, int64(int32(one.Version))), append(xacts, one.Xact)
	}
	var id int64
	var s Standing
	err := c.Each(ctx, "check", []any{ids, versions, pids, xacts}, []any{&id, &s.State, &s.Ours, &s.Stopping, &s.Recalls, &s.Undone}, func() error {
		if other := all[id]; s.Ours || !other.Ours && (s.UnderWay() || !other.UnderWay()) {
			all[id] = s
		}
		return nil
	})
	return all, err
}
