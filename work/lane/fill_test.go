package lane

import (
	"testing"
)

func TestFillBringsWhatIsNew(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("b", 2, 0)
	d.Fill()
	d.due("b", 1, 0) // it has changed its lane; 2 is gone
	d.due("b", 3, 1)
	d.Filled()
	if _, _, ready := d.Load(); ready != 2 {
		t.Errorf("%d ready, want 2", ready)
	}
	d.expect("fetched", d.fetch(), 3)
	d.startAll()
	d.Ended(d.tasks[3], d.at)
	d.expect("fetched", d.fetch(), 1)
}

// TestFillLeavesOutWhatWasRead: what is read while a fill is under way, and has been seen by it,
// does not wait again, and so keeps nothing from starting; unless it was given back and was seen
// once more.
func TestFillLeavesOutWhatWasRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("a", 2, 0)
	d.due("a", 3, 0)
	d.Fill()
	for id := int64(1); id <= 3; id++ {
		d.due("a", id, 0)
	}
	for id := int64(1); id <= 2; id++ {
		d.expect("fetched", d.fetch(), id)
		d.expect("started", d.startAll(), id)
		d.Ended(d.tasks[id], d.at)
	}
	d.due("a", 2, 0)
	d.Filled()
	if _, _, ready := d.Load(); ready != 2 {
		t.Errorf("%d ready, want 2", ready)
	}
	d.expect("fetched", d.fetch(), 2)
	d.expect("started", d.startAll(), 2)
}
