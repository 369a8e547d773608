package lane

import (
	"math/rand/v2"
	"testing"
)

// TestIDSetAgainstMap plays at random with ids that lie close together, and with some that are far
// apart or negative.
func TestIDSetAgainstMap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	set, members := newIDSet(), map[int64]bool{}
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
	set.turnTo(1 << 50)
	if set.turnTo(0); len(set.words) != 0 {
		t.Error("left:", set.words)
	}
}
