package inflight

import (
	"slices"
	"testing"

	"pgtaskd/work/run"
)

func read(id int64) *run.Task { return &run.Task{Row: run.Row{ID: id, Version: uint32(100 + id)}} }

// TestTasks: each task has one record from the read on. A run that comes back after its row was
// read again does not get the record of the new task.
func TestTasks(t *testing.T) {
	t.Parallel()
	all, one, two := Tasks{}, read(1), read(2)
	all.Know([]*run.Task{two, one, read(3)})
	if got := all.IDs(); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Error("known: ", got)
	}
	all[1].Marked = true
	if got := all.Known(one); got != all[1] || !got.Marked || all[2].Marked || got.Task != one {
		t.Errorf("%+v", got)
	}
	again := read(1)
	all.Know([]*run.Task{again})
	if old := all.Known(one); old == all[1] || old.Task != one || old.Marked {
		t.Errorf("the run from before has %+v", old)
	}
	if stranger := all.Known(read(4)); stranger.Row.ID != 4 || all.Has(4) {
		t.Errorf("a task that was not read: %+v", stranger)
	}
	all.Forget([]*run.Task{two, read(5)})
	if got := all.IDs(); !slices.Equal(got, []int64{1, 3}) || all.Has(2) || !all.Has(3) {
		t.Error("after some are forgotten: ", got)
	}
}

// TestAnyUnended: a task counts until its end is known.
func TestAnyUnended(t *testing.T) {
	t.Parallel()
	all := Tasks{}
	if all.AnyUnended() {
		t.Error("there is no task")
	}
	all.Know([]*run.Task{read(1), read(2)})
	all[1].Ending = true
	if !all.AnyUnended() {
		t.Error("the second has not ended")
	}
	all[2].Ending = true
	if all.AnyUnended() || all.AnyRuns() {
		t.Error("all have ended")
	}
}

// TestClaimOf: the claim has the version that was read, and the session that runs the task.
func TestClaimOf(t *testing.T) {
	t.Parallel()
	if got, want := ClaimOf(&Task{Task: read(7)}, 42), (Claim{ID: 7, Version: 107, PID: 42}); got != want {
		t.Errorf("%+v", got)
	}
}

// TestUnderWay: a task may run that is marked, or that was set to STOP and has no end.
func TestUnderWay(t *testing.T) {
	t.Parallel()
	for s, want := range map[Standing]bool{
		{}: false, {State: "PLAN", Ours: true}: false, {State: "DONE"}: false, {State: "STOP"}: false,
		{State: "WORK"}: true, {State: "TAKE"}: true, {State: "STOP", Stopping: true}: true,
	} {
		if s.UnderWay() != want {
			t.Errorf("%+v: %v", s, !want)
		}
	}
}
