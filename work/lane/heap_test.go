package lane

import (
	"math/rand/v2"
	"testing"
)

// TestHeap: the first element stays on top through pushes, changes and removals.
func TestHeap(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 1))
	for size := range 60 {
		var h heap[Rank]
		rank := func(id int) Rank {
			return Rank{ID: int64(id), Max: random.Int32N(3) - 1, Priority: random.Int32N(3) - 1}
		}
		for id := range size {
			h.push(rank(id))
		}
		for id := range size / 2 {
			at := random.IntN(len(h))
			h[at] = rank(size + id)
			h.settle(at)
			if at = random.IntN(len(h)); id%3 == 0 {
				h.remove(at)
			}
		}
		for n := 0; len(h) > 0; n++ {
			first := h[0]
			for _, other := range h {
				if other.before(first) {
					t.Fatalf("size %d: %v comes as number %d before %v", size, first, n, other)
				}
			}
			if removed := h.remove(0); removed != first {
				t.Fatalf("size %d: %v is removed for %v", size, removed, first)
			}
		}
	}
}
