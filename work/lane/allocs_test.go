package lane

import (
	"testing"
	"time"
)

// TestHandingOutTasksAllocatesNothing: tasks are handed out tens of thousands of times a second.
// The test is not parallel, because it would count the memory of other tests.
func TestHandingOutTasksAllocatesNothing(t *testing.T) {
	d := newDesk(t, 1)
	for id := range int64(4) {
		d.due("a", id+1, 0)
		d.due("b", id+11, 0)
	}
	d.order.pace(50)
	d.index.of(KeyOf("a", "")).recent, d.index.of(KeyOf("b", "")).recent = 9, 9
	d.fetch()
	var fits func(*item) bool = whichever
	cycle := func() {
		one := d.Start(false, fits)
		two := d.Queue(one, false, fits)
		d.Rejoin([]*item{two}, &one.Ticket)
		two = d.Queue(one, false, fits)
		three := d.Follow(two, fits)
		four := d.Pass(three, time.Time{}, fits)
		if two == nil || three == nil || four == nil {
			t.Fatal(one, two, three, four)
		}
		for _, task := range [...]*item{one, two, three, four} {
			d.Ended(task, time.Time{})
			task.Read = time.Now()
			d.mu.Lock()
			d.prefetched.add(d.index.of(task.Lane), task)
			d.order.place(d.index.of(task.Lane))
			d.mu.Unlock()
		}
	}
	cycle()
	if n := testing.AllocsPerRun(100, cycle); n > 0 {
		t.Errorf("%v allocations for four tasks", n)
	}
}

// TestAskingForPausesAllocatesNothing: a scan asks for each due task.
func TestAskingForPausesAllocatesNothing(t *testing.T) {
	d, group := newDesk(t, 1), []byte("a")
	d.Limit([]Limit{{Group: "a", Slots: 1}})
	if n := testing.AllocsPerRun(100, func() { d.Limits.Holds(group) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
