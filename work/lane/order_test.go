package lane

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestLaneHeap: the first lane stays on top, and each lane knows its place, through puts, moves and
// drops.
func TestLaneHeap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 1))
	h := laneHeap[*item]{which: starting}
	lanes := make([]*lane[*item], 40)
	for i := range lanes {
		lanes[i] = &lane[*item]{at: [3]int32{-1, -1, -1}}
	}
	members := map[*lane[*item]]contender[*item]{}
	for range 20_000 {
		l := lanes[random.IntN(len(lanes))]
		if random.IntN(4) == 0 {
			h.drop(l)
			delete(members, l)
		} else {
			first, busy := Rank{ID: random.Int64N(5), Priority: random.Int32N(3)}, random.Int32N(3)
			h.put(l, first, int(busy))
			members[l] = contender[*item]{l, starting, Rank{first.ID, first.Priority, -busy}}
		}
		if len(h.heap) != len(members) {
			t.Fatal(len(h.heap), " lanes, want ", len(members))
		}
		for i, c := range h.heap {
			if members[c.lane] != c || c.lane.at[starting] != int32(i) || c.lane.at[fetching] != -1 {
				t.Fatalf("at place %d: %+v, want %+v", i, c, members[c.lane])
			}
			if c.order.before(h.heap[0].order) {
				t.Fatalf("%+v is on top, and %+v comes before it", h.heap[0], c)
			}
		}
	}
}

// TestOrderAlone: tasks, gate, group and pause decide in which heaps a lane is, and the heaps keep
// their order.
func TestOrderAlone(t *testing.T) {
	t.Parallel()
	at := noon
	now := func() time.Time { return at }
	o := order[*item]{
		now: now, slots: &Slots{now: now}, gates: &gates[*lane[*item]]{all: map[string]*gate[*lane[*item]]{}},
		read: &prefetchedSet[*item]{now: now, fresh: time.Hour, lanes: map[*lane[*item]]struct{}{}}, tryouts: map[*lane[*item]]struct{}{},
		fetches: laneHeap[*item]{which: fetching}, starts: laneHeap[*item]{which: starting}, pausing: laneHeap[*item]{which: pausing},
	}
	o.slots.Resize(4)
	expect := func(what string, l *lane[*item], fetches, starts, waits, tries bool) {
		t.Helper()
		o.place(l)
		_, try := o.tryouts[l]
		if got, want := [4]bool{l.at[fetching] >= 0, l.at[starting] >= 0, l.at[pausing] >= 0, try},
			[4]bool{fetches, starts, waits, tries}; got != want {
			t.Errorf("%s: read, start, wait, try: %v, want %v", what, got, want)
		}
	}
	one := &lane[*item]{at: [3]int32{-1, -1, -1}}
	expect("empty", one, false, false, false, false)
	one.ready.push(Rank{ID: 1})
	expect("due", one, true, false, false, false)
	one.prefetched.push(&item{Ticket{Rank: one.ready.remove(0), Read: time.Now()}})
	expect("read", one, false, true, false, false)
	one.ended, one.prefetched[0].Rank.Max = at, -1000
	expect("with a pause", one, false, false, true, false)
	if at = o.resumes(); !at.Equal(noon.Add(time.Second)) {
		t.Error("resumes at", at)
	}
	if o.resume(); one.at[starting] < 0 {
		t.Error("it has not resumed")
	}
	one.group = &group[*lane[*item]]{rules: []*rule{{Limit: Limit{Paused: true}}}, slots: -1}
	expect("of a paused group", one, false, false, false, false)
	one.group, one.gate = nil, o.gates.of("away")
	one.gate.members[one] = struct{}{}
	expect("before a gate", one, false, false, false, true)
	o.mayTry(one)
	other := &lane[*item]{at: [3]int32{-1, -1, -1}, gate: one.gate}
	other.ready.push(Rank{ID: 2})
	other.gate.members[other] = struct{}{}
	expect("before a gate that is tried", other, false, false, false, false)
	if o.start(one, trySlot).Rank.ID != 1 || one.running != 1 {
		t.Error("runs", one.running)
	}
	o.tries(one.gate, nil)
	if o.next() != other {
		t.Error("nothing is to be read")
	}
	one.gate.shut = false
	for id, priority := range []int32{0, 2, 1} {
		l := &lane[*item]{at: [3]int32{-1, -1, -1}}
		l.prefetched.push(&item{Ticket{Rank: Rank{ID: int64(10 + id), Priority: priority}, Read: time.Now()}})
		o.place(l)
	}
	for _, want := range []int64{11, 12, 10, -1} {
		first, found := o.first(whichever, false)
		if found != (want >= 0) || found && first.Rank.ID != want {
			t.Fatal("starts", first, "want", want)
		}
	}
	if o.slots.busy != 3 {
		t.Error(o.slots.busy, "places are in use")
	}
}
