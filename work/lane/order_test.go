package lane

import (
	"math/rand/v2"
	"testing"
)

// TestLaneHeap: whatever is put, moved and dropped, the lane on top is the first, and each knows
// its place.
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
