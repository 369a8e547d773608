package lane

import (
	"testing"
	"time"
)

// TestLaneAfterRejoin: a lane can be read as before after its tasks were given back and stopped.
func TestLaneAfterRejoin(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 1)
	d.order.pace(9)
	for id := range int64(3) {
		d.due("a", id+1, 0)
	}
	d.index.of(KeyOf("a", "")).recent = 9
	d.expect("fetched", d.fetch(), 1, 2, 3)
	one := d.Start(false, whichever)
	two := d.Queue(one, false, whichever)
	three := d.Queue(two, false, whichever)
	for range 9 { // one takes long
		d.order.pace(0)
	}
	d.Rejoin([]*item{two, three}, &one.Ticket)
	if !d.Drop(two) || !d.Drop(three) {
		t.Error("they do not wait")
	}
	d.Ended(one, d.at)
	d.due("a", 4, 0)
	d.expect("fetched", d.fetch(), 4)
}

// TestQueueAndRejoin: a task that is queued behind another takes over its slots, and gives them
// back when it rejoins.
func TestQueueAndRejoin(t *testing.T) {
	t.Parallel()
	full := func() (d *desk, one *item, behind []*item) {
		d = newDesk(t, 1)
		d.order.pace(50)
		for id := range int64(3) {
			d.due("a", id+1, 0).Lane = KeyOf("a", "")
			d.due("b", id+11, 0)
		}
		d.index.of(KeyOf("a", "")).recent, d.index.of(KeyOf("b", "")).recent = 9, 9
		d.expect("fetched", d.fetch(), 1, 11, 2, 12, 3, 13)
		one = d.Start(false, whichever)
		for last := one; len(behind) < 3; {
			if last = d.Queue(last, false, whichever); last == nil {
				t.Fatal("nothing follows on", behind)
			}
			behind = append(behind, last)
		}
		if one.Rank.ID != 1 || len(behind) != 3 || behind[0].Rank.ID != 2 || behind[1].Rank.ID != 3 || behind[2].Rank.ID != 11 {
			t.Fatal(one.Rank.ID, behind)
		}
		if busy, waiting, _ := d.Load(); busy != 1 || waiting > 2 {
			t.Error(busy, waiting)
		}
		return d, one, behind
	}
	rest := func(d *desk, what string, want ...int64) {
		t.Helper()
		var got []int64
		for next := d.Start(false, whichever); next != nil; next = d.Start(false, whichever) {
			got = append(got, next.Rank.ID)
			d.Ended(next, d.at)
		}
		d.expect(what, got, want...)
		if busy, waiting, _ := d.Load(); busy != 0 || waiting != 0 {
			t.Error(what, busy, waiting)
		}
		for key, l := range d.index.all {
			if l.running != 0 {
				t.Error(what, key, l.running)
			}
		}
	}

	d, one, behind := full()
	for _, ended := range append([]*item{one}, behind...) {
		d.Ended(ended, d.at)
	}
	rest(d, "all ended, then", 12, 13)

	d, one, behind = full()
	d.Rejoin(behind, &one.Ticket)
	d.Ended(one, d.at)
	rest(d, "back, then", 2, 3, 11, 12, 13)

	d, one, behind = full()
	d.Ended(one, d.at)
	d.Rejoin(behind[1:], &behind[0].Ticket)
	d.Ended(behind[0], d.at)
	rest(d, "some back, then", 3, 11, 12, 13)

	d, one, behind = full()
	d.Rejoin([]*item{behind[2], behind[0], behind[1]}, nil)
	d.Ended(one, d.at)
	rest(d, "rejoined, then", 2, 3, 11, 12, 13)

	d, one, behind = full()
	d.Forget()
	if left := d.Rejoin(behind, &one.Ticket); len(left) != 3 {
		t.Error("after they were forgotten:", left)
	}
	for _, ended := range append([]*item{one}, behind...) {
		d.Ended(ended, d.at)
	}
	rest(d, "forgotten, then")
}

// TestQueueInWideLane: in a lane where several tasks run at once, a task is queued behind another
// only if it could not start beside it.
func TestQueueInWideLane(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 3)
	d.order.pace(50)
	for id := range int64(4) {
		d.due("a", id+1, 1)
	}
	d.index.of(KeyOf("a", "")).recent = 9
	d.expect("fetched", d.fetch(), 1, 2, 3, 4)
	one := d.Start(false, whichever)
	if next := d.Queue(one, false, whichever); next != nil {
		t.Error(next.Rank.ID, "waits behind one beside which there is room")
	}
	d.Start(false, whichever)
	if next := d.Start(false, whichever); next != nil {
		t.Error(next.Rank.ID, "has found room")
	}
	next := d.Queue(one, false, whichever)
	if next == nil || next.Rank.ID != 3 {
		t.Fatal(next)
	}
	if d.Start(false, whichever) != nil {
		t.Error("there is room beside what is queued")
	}
	d.Ended(one, d.at)
	if d.Start(false, whichever) != nil {
		t.Error("one that has ended leaves its place to what was queued behind it")
	}
	d.Ended(next, d.at)
	d.expect("then", []int64{d.Start(false, whichever).Rank.ID}, 4)
}

// TestReadAheadFollowsTheEnds: as many tasks are read ahead as end in four ticks.
func TestReadAheadFollowsTheEnds(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 3)
	for id := range int64(3) {
		d.due("a", id+1, 3)
	}
	d.fetch()
	d.startAll()
	for _, task := range d.tasks {
		d.Ended(task, d.at)
	}
	for range 2 {
		if d.Pace(); d.order.ahead != 12 || d.order.beat != 1 {
			t.Error("ahead", d.order.ahead, "after looks", d.order.beat)
		}
	}
	d.order.paced = time.Time{}
	if d.Pace(); d.order.ahead != 0 {
		t.Error("none has ended, and ahead is", d.order.ahead)
	}
}
