package judge

import (
	"sync/atomic"
	"testing"
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// TestStopAfterALook: a STOP shortly after a look does not wait for the next regular look, only for
// earlier news.
func TestStopAfterALook(t *testing.T) {
	t.Parallel()
	pending := false
	lanes := lane.New[*run.Task](1, time.Second, time.Now)
	live := &atomic.Pointer[target.Live]{}
	live.Store(&target.Live{Sleep: time.Hour})
	w := New(Config{
		Rows: change.Rows{Tasks: inflight.Tasks{}}, Live: live, Runs: run.New(run.Config{Lanes: lanes}),
		Pending: func() bool { return pending },
	}).Watch
	w.looked = time.Now()
	if w.Next() != hold.Never {
		t.Error("nothing runs, and it wakes")
	}
	lanes.Occupy(lane.KeyOf("a", ""), 1)
	if d := w.Next(); d <= watchLate {
		t.Error("it wakes without a reason after", d)
	}
	w.Doubt()
	if d := w.Next(); d > watchTick {
		t.Error("it looks after", d)
	}
	w.looked = time.Now().Add(-time.Minute)
	if d := w.Next(); d > 0 {
		t.Error("it still waits for", d)
	}
	pending = true
	if d := w.Next(); d <= watchTick || d > watchLate {
		t.Error("it waits for what was said before for", d)
	}
	w.doubted = time.Now().Add(-watchLate)
	if d := w.Next(); d > 0 {
		t.Error("where there is much to look at it waits for", d)
	}
}
