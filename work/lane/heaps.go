package lane

// laneHeap orders lanes by what they compete with for run, or by the moment that they wait for. It
// keeps that beside each lane: most changes of a lane leave its place as it is, and end once that is
// seen.
type laneHeap[T Holder] struct {
	lanes []contender[T]
	which int // of a lane's places
}

// The heaps that a lane may be in.
const (
	fetching = iota
	starting
	pausing
)

// contender is a lane, its first task and how many of its tasks are counted against it; or in place
// of the task's id the moment that the lane waits for.
type contender[T Holder] struct {
	lane     *lane[T]
	id       int64
	priority int32
	busy     int32
}

// before is the order between lanes: higher priority, then the lane that runs fewest, then the
// lower id.
func (a *contender[T]) before(b *contender[T]) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if a.busy != b.busy {
		return a.busy < b.busy
	}
	return a.id < b.id
}

func (h *laneHeap[T]) len() int { return len(h.lanes) }

// first is the lane on top, nil if there is none.
func (h *laneHeap[T]) first() *lane[T] {
	if len(h.lanes) == 0 {
		return nil
	}
	return h.lanes[0].lane
}

// put makes a lane a member, or moves it to where it belongs now.
func (h *laneHeap[T]) put(l *lane[T], first Rank, busy int) {
	c := contender[T]{l, first.ID, first.Priority, int32(busy)}
	i := int(l.at[h.which])
	if i < 0 {
		i = len(h.lanes)
		h.lanes = append(h.lanes, c)
	} else if h.lanes[i] == c {
		return
	}
	h.settle(i, c)
}

// drop takes a lane out, if it is a member.
func (h *laneHeap[T]) drop(l *lane[T]) {
	i := int(l.at[h.which])
	if i < 0 {
		return
	}
	l.at[h.which] = -1
	end := len(h.lanes) - 1
	last := h.lanes[end]
	h.lanes[end] = contender[T]{}
	if h.lanes = h.lanes[:end]; i < end {
		h.settle(i, last)
	}
}

// settle puts a contender where it belongs, from a place on that is free.
func (h *laneHeap[T]) settle(i int, c contender[T]) {
	for i > 0 && c.before(&h.lanes[(i-1)/2]) {
		h.move((i-1)/2, i)
		i = (i - 1) / 2
	}
	for {
		child := 2*i + 1
		if child >= len(h.lanes) {
			break
		}
		if child+1 < len(h.lanes) && h.lanes[child+1].before(&h.lanes[child]) {
			child++
		}
		if !h.lanes[child].before(&c) {
			break
		}
		h.move(child, i)
		i = child
	}
	h.lanes[i] = c
	c.lane.at[h.which] = int32(i)
}

func (h *laneHeap[T]) move(from, to int) {
	h.lanes[to] = h.lanes[from]
	h.lanes[to].lane.at[h.which] = int32(to)
}

// heap holds what has an order; the first is on top. It moves a million ranks when leadership begins,
// which takes three times as long by heap.Interface.
type heap[E ranked] []E

// ranked is what has a place in a lane: a rank itself, or a task.
type ranked interface{ rank() Rank }

// up moves what is in a place to where it belongs above.
func (h heap[E]) up(i int) {
	e := h[i]
	for i > 0 && e.rank().before(h[(i-1)/2].rank()) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = e
}

// down moves what is in a place to where it belongs below.
func (h heap[E]) down(i int) {
	e := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].rank().before(h[child].rank()) {
			child++
		}
		if !h[child].rank().before(e.rank()) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = e
}

// order makes a heap of what lies in no order.
func (h heap[E]) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *heap[E]) push(e E) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

// remove takes out what is in a place.
func (h *heap[E]) remove(i int) E {
	old, end := *h, len(*h)-1
	e := old[i]
	old[i] = old[end]
	clear(old[end:])
	if *h = old[:end]; i < end {
		h.down(i)
		h.up(i)
	}
	return e
}
