package lane

import (
	"math/rand/v2"
	"testing"
)

func TestFillBringsChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4)
	d.due("a", 1, 0)
	d.due("b", 2, 0)
	d.Fill()
	d.due("b", 1, 0) // 1 has changed its lane; 2 is gone
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

// TestFillLeavesOutReadTasks: a task that a fill has found, and that is read before the fill ends,
// does not become ready again, where it could block others; unless the fill finds it once more.
func TestFillLeavesOutReadTasks(t *testing.T) {
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

// TestReadyAgainstMaps uses two lanes at random: no task is added twice, and after a fill each lane
// has the tasks that the fill has found, without those read since.
func TestReadyAgainstMaps(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 1))
	r := readySet[*item]{known: idSet{}}
	lanes := map[Key]*lane[*item]{KeyOf("a", ""): {}, KeyOf("b", ""): {}}
	known, found := map[int64]*lane[*item]{}, map[int64]*lane[*item]{}
	fills := int64(0)
	for range 20_000 {
		id := random.Int64N(300)
		l := lanes[KeyOf([]string{"a", "b"}[(id+fills)%2], "")] // each fill finds every task in its other lane
		switch random.IntN(100) {
		default:
			if r.add(l, Rank{ID: id}) != (known[id] == nil) {
				t.Fatal(id, "is known:", known[id] != nil)
			}
			if known[id] == nil {
				known[id] = l
			}
			if r.filling != nil && found[id] == nil {
				found[id] = l
			}
		case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20:
			if len(l.ready) == 0 {
				continue
			}
			id = r.choose(l)
			if known[id] != l {
				t.Fatal(id, "is chosen from another lane")
			}
			delete(known, id)
			if r.filling != nil {
				r.filling.remove(id) // the task was read
				delete(found, id)
			}
		case 21:
			for _, l := range lanes {
				l.fresh = nil
			}
			clear(found)
			fills++
			if r.filling = nil; r.n > 0 {
				r.filling = idSet{}
			}
		case 22:
			if r.filled(lanes) {
				known, found = found, map[int64]*lane[*item]{}
			}
		}
		if r.n != len(known) {
			t.Fatal(r.n, "are known, want", len(known))
		}
	}
	for _, l := range lanes {
		for len(l.ready) > 0 {
			first := l.ready[0]
			for _, other := range l.ready {
				if other.before(first) {
					t.Fatal(first, "is on top, before", other)
				}
			}
			delete(known, r.choose(l))
		}
	}
	if len(known) > 0 {
		t.Error("are in no lane:", known)
	}
}

// TestIDSetAgainstMap uses random ids: most lie close together, some are far apart or negative.
func TestIDSetAgainstMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	set, members := idSet{}, map[int64]bool{}
	for range 20_000 {
		id := random.Int64N(400) - 130
		if random.IntN(10) == 0 {
			id <<= 40
		}
		if random.IntN(3) == 0 {
			if removed := set.remove(id); removed != members[id] {
				t.Fatalf("id %d: removed %t, was a member %t", id, removed, members[id])
			}
			delete(members, id)
			continue
		}
		if added := set.add(id); added == members[id] {
			t.Fatalf("id %d: added %t, was a member %t", id, added, members[id])
		}
		members[id] = true
	}
	for id := range members {
		set.remove(id)
	}
	if len(set) != 0 {
		t.Error("left:", set)
	}
}
