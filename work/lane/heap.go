package lane

// heap holds what has an order; the first is on top. It moves a million ranks when leadership
// begins, which takes three times as long by heap.Interface.
type heap[E ranked] []E

func (h heap[E]) set(i int, e E) {
	h[i] = e
	e.moved(i)
}

func (h heap[E]) up(i int) {
	e := h[i]
	for i > 0 && e.rank().before(h[(i-1)/2].rank()) {
		h.set(i, h[(i-1)/2])
		i = (i - 1) / 2
	}
	h.set(i, e)
}

func (h heap[E]) down(i int) {
	e := h[i]
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].rank().before(h[child].rank()) {
			child++
		}
		if !h[child].rank().before(e.rank()) {
			break
		}
		h.set(i, h[child])
		i = child
	}
	h.set(i, e)
}

func (h *heap[E]) push(e E) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

func (h *heap[E]) remove(i int) E {
	old, end := *h, len(*h)-1
	e := old[i]
	old[i] = old[end]
	clear(old[end:])
	if *h = old[:end]; i < end {
		h.settle(i)
	}
	e.moved(-1)
	return e
}

// settle moves what is in a place to where it belongs.
func (h heap[E]) settle(i int) {
	h.down(i)
	h.up(i)
}

// laneHeap orders lanes by what they compete with for run, or by the moment that they wait for. It
// keeps that beside each lane: most changes of a lane leave its place as it is.
type laneHeap[T Holder] struct {
	heap[contender[T]]
	which int // of a lane's places
}

// The heaps that a lane may be in.
const (
	fetching = iota
	starting
	pausing
)

// contender is a lane in one of them. Its rank is not that of a task: higher priority comes first,
// then the lane of which fewest tasks are counted, then the lower id of its first task, or the
// earlier moment.
type contender[T Holder] struct {
	lane  *lane[T]
	which int
	order Rank
}

func (c contender[T]) rank() Rank  { return c.order }
func (c contender[T]) moved(i int) { c.lane.at[c.which] = int32(i) }

func (h *laneHeap[T]) first() *lane[T] {
	if len(h.heap) == 0 {
		return nil
	}
	return h.heap[0].lane
}

// put makes a lane a member, or moves it to where it belongs now.
func (h *laneHeap[T]) put(l *lane[T], first Rank, busy int) {
	c := contender[T]{l, h.which, Rank{ID: first.ID, Max: first.Priority, Priority: -int32(busy)}}
	switch i := int(l.at[h.which]); {
	case i < 0:
		h.push(c)
	case h.heap[i] != c:
		h.heap[i] = c
		h.settle(i)
	}
}

func (h *laneHeap[T]) drop(l *lane[T]) {
	if i := int(l.at[h.which]); i >= 0 {
		h.remove(i)
	}
}
