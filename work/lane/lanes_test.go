package lane

import (
	"testing"
	"time"
)

func TestLaneMax(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	for id := int64(1); id <= 3; id++ {
		d.due("zero", id, 0)
	}
	for id := int64(11); id <= 14; id++ {
		d.due("two", id, 2)
	}
	d.expect("fetched", sorted(d.fetch()), 1, 11, 12, 13)
	d.expect("started", sorted(d.startAll()), 1, 11, 12, 13)
	d.Ended(d.tasks[12], d.at)
	d.expect("fetched", d.fetch(), 14)
	d.expect("started", d.startAll(), 14)
}

func TestLargerMaxOvertakes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	d.due("a", 1, 0)
	d.fetch()
	d.due("a", 2, 1)
	d.expect("started", d.startAll()) // 1 waits for 2, which is still to be read
	d.expect("chosen", d.Choose(1000), 2)
	d.expect("started", d.startAll()) // the read of 2 is under way
	d.Prefetched([]*item{d.tasks[2]})
	d.expect("started", d.startAll(), 2)
	d.Ended(d.tasks[2], d.at)
	d.expect("started", d.startAll(), 1)
}

// TestOutrankedLaneIsRead: a prefetched task that waits for a better ready task must not keep that
// task from being read.
func TestOutrankedLaneIsRead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.due("a", 1, 0)
	d.expect("fetched", d.fetch(), 1)
	d.due("a", 2, 1)
	d.expect("fetched", d.fetch(), 2)
	d.expect("started", d.startAll(), 2)
}

// TestLanesShareRun: a busy lane does not starve other lanes, whatever the ids of its tasks.
func TestLanesShareRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id := int64(1); id <= 100; id++ {
		d.due("busy", id, 1000)
	}
	d.due("b", 101, 0)
	d.due("c", 102, 0)
	d.expect("fetched", sorted(d.fetch()), 1, 2, 101, 102)
}

func TestPauseWithDrift(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	first := d.due("a", 1, -1000)
	d.fetch()
	d.startAll()
	d.at = d.at.Add(300 * time.Millisecond)
	d.Ended(first, d.at)
	d.due("a", 2, -1000).Drift = true
	d.at = noon.Add(1000 * time.Millisecond)
	d.fetch()
	d.at = noon.Add(1299 * time.Millisecond)
	d.expect("started", d.startAll())
	if at, ok := d.Wake(); !ok || !at.Equal(noon.Add(1300*time.Millisecond)) {
		t.Error("wakes at", at, ok)
	}
	d.at = noon.Add(1300 * time.Millisecond)
	d.expect("started", d.startAll(), 2)
}

func TestPauseWithoutDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan, ended, starts time.Time
	}{
		{noon, noon.Add(300 * time.Millisecond), noon.Add(time.Second)},
		{noon, noon.Add(2300 * time.Millisecond), noon.Add(3 * time.Second)},
		{noon.AddDate(-1, 0, 0).Add(400 * time.Millisecond), noon, noon.Add(400 * time.Millisecond)},
		{noon.AddDate(-2500, 0, 0).Add(400 * time.Millisecond), noon, noon.Add(400 * time.Millisecond)}, // over its range
	} {
		d := newDesk(t, 4)
		first := d.due("a", 1, -1000)
		first.Plan = c.plan
		d.fetch()
		d.startAll()
		d.Ended(first, c.ended)
		d.due("a", 2, -1000)
		d.at = c.starts.Add(-time.Millisecond)
		d.fetch()
		d.expect("started", d.startAll())
		d.at = c.starts
		d.fetch()
		d.expect("started", d.startAll(), 2)
	}
}

// TestUnknownPauses: after a takeover a lane waits one whole pause.
func TestUnknownPauses(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.Doubt()
	d.due("a", 1, -1000)
	d.due("b", 2, 0)
	d.expect("fetched", d.fetch(), 2)
	d.at = d.at.Add(time.Second)
	d.expect("fetched", d.fetch(), 1)
}

// TestManyOutrank: if many ready tasks come before the prefetched ones, Choose reads them as far
// ahead as others.
func TestManyOutrank(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id := int64(1000); id < 1040; id++ {
		d.due("a", id, 0)
		d.fetch()
		d.startAll()
		d.Ended(d.tasks[id], d.at)
	}
	d.order.ahead = 20
	for id := int64(1040); id < 1100; id++ {
		d.due("a", id, 0)
	}
	if ids := d.fetch(); len(ids) != 21 || ids[0] != 1040 {
		t.Fatalf("fetched %v, want 1040 to 1060", ids)
	}
	for id := int64(1); id <= 100; id++ {
		d.due("a", id, 0)
	}
	if ids := d.fetch(); len(ids) != 21 || ids[0] != 1 {
		t.Errorf("fetched %v, want 1 to 21", ids)
	}
	d.expect("started", d.startAll(), 1)
	if ids := d.fetch(); len(ids) > 0 {
		t.Errorf("fetched %v, where so many are prefetched", ids)
	}
}

// TestPausesAreNotReadAhead: a task after a pause is read only when no task of its lane is
// prefetched, or when it comes before the prefetched one.
func TestPausesAreNotReadAhead(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	for id := int64(1); id <= 40; id++ {
		d.due("a", id, 0)
		d.fetch()
		d.startAll()
		d.Ended(d.tasks[id], d.at)
	}
	d.order.ahead = 20
	d.due("a", 1003, -1)
	d.at = d.at.Add(time.Second)
	d.expect("fetched", d.fetch(), 1003)
	d.due("a", 1001, -1)
	d.due("a", 1002, -1)
	d.expect("fetched", d.fetch(), 1001)
}

func TestForgetAndPrune(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("a", 2, 0)
	d.fetch()
	if read := d.Forget(); len(read) != 1 || read[0].Rank.ID != 1 {
		t.Error("forgot", read)
	}
	d.at = d.at.Add(2 * time.Minute)
	d.Fill()
	if busy, waiting, ready := d.Load(); busy+waiting+ready != 0 || len(d.index.all) != 0 {
		t.Error("left:", busy, waiting, ready, len(d.index.all))
	}
}

// TestUnheardLane: a lane that would be the next to start does not wait, however many tasks of a
// busy lane are prefetched.
func TestUnheardLane(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 2)
	for id := range int64(100) {
		d.due("busy", id+1, 10)
	}
	d.order.pace(50)
	d.expect("fetched", d.fetch(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for _, id := range d.startAll() {
		d.Ended(d.tasks[id], d.at)
	}
	d.fetch()
	d.startAll()
	d.order.pace(0) // its tasks take longer now
	if d.Prefetchable() {
		t.Error("there is enough")
	}
	d.due("other", 200, 0)
	d.due("other", 201, 0)
	d.due("busy", 202, 10)
	if !d.Prefetchable() {
		t.Error("the other lane is not to be read")
	}
	d.expect("fetched", d.fetch(), 200)
	d.tasks[300] = &item{Ticket{Read: time.Now(), Lane: KeyOf("urgent", ""), Rank: Rank{ID: 300, Priority: 1}}}
	d.Add([]byte("urgent"), nil, d.tasks[300].Rank)
	d.expect("fetched", d.fetch(), 300)
}

// TestSearch: Start finds a task that fits after any number of lanes whose first task does not, and
// these lanes keep their places.
func TestSearch(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 100)
	for id := range int64(40) {
		d.due(string(rune('A'+id)), id+1, 0)
	}
	d.fetch()
	last := func(t *item) bool { return t.Rank.ID == 40 }
	if other := d.Start(false, last); other != nil {
		t.Error("few lanes are all of them: ", other.Rank.ID)
	}
	if found := d.Start(true, last); found != d.tasks[40] {
		t.Error("not found")
	}
	if n := len(d.startAll()); n != 39 {
		t.Error(n, "are left")
	}
}
