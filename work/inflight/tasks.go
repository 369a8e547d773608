package inflight

import (
	"context"
	"maps"
	"slices"

	"pgtaskd/work/control"
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

// Has tells whether one has that id.
func (t Tasks) Has(id int64) bool { return t[id] != nil }

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

// Claim is what the row of a task of ours shows that nobody has changed.
type Claim struct {
	ID      int64
	Version uint32 // as it was read
	PID     int32  // of the session that it is marked for
	Xact    int64  // with which it is prepared, 0: it is not
}

// ClaimOf is what the row of a task shows that runs on the session.
func ClaimOf(t *Task, pid int32) Claim { return Claim{t.Row.ID, t.Row.Version, pid, t.Xact()} }

// Standing is what a row shows now.
type Standing struct {
	State    string // "": there is no such row
	Ours     bool   // it still shows what we have made of it
	Stopping bool   // set to STOP while it was under way, and without an end
	Recalls  bool   // it is prepared, and remembers a STOP
}

// UnderWay tells whether the row's task may run, on whatever session.
func (s Standing) UnderWay() bool { return s.State == "TAKE" || s.State == "WORK" || s.Stopping }

// Standings are what the rows show. If several have one id, as in a partitioned table, the one that is
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
	err := c.Each(ctx, "check", []any{ids, versions, pids, xacts}, []any{&id, &s.State, &s.Ours, &s.Stopping, &s.Recalls}, func() error {
		if other := all[id]; s.Ours || !other.Ours && (s.UnderWay() || !other.UnderWay()) {
			all[id] = s
		}
		return nil
	})
	return all, err
}
