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

// readyHeap holds the ready tasks of a lane, 16 bytes each; the first to be read is on top. It
// moves a million of them when leadership begins, which takes three times as long by
// heap.Interface.
type readyHeap []Rank

func (h readyHeap) top() Rank { return h[0] }

// up moves a rank to where it belongs, above its place.
func (h readyHeap) up(i int) {
	r := h[i]
	for i > 0 && r.before(h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = r
}

// down moves a rank to where it belongs, below its place.
func (h readyHeap) down(i int) {
	r := h[i]
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].before(h[child]) {
			child++
		}
		if !h[child].before(r) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = r
}

// order makes a heap of what lies in no order.
func (h readyHeap) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *readyHeap) pop() Rank {
	old := *h
	top, end := old[0], len(old)-1
	old[0] = old[end]
	if *h = old[:end]; end > 0 {
		h.down(0)
	}
	return top
}

// prefetchedHeap holds the prefetched tasks of a lane. It is a heap.Interface.
type prefetchedHeap[T Holder] []T

// first is the ticket of the task on top.
func (h prefetchedHeap[T]) first() *Ticket { return h[0].ticket() }

func (h prefetchedHeap[T]) Len() int { return len(h) }
func (h prefetchedHeap[T]) Less(i, j int) bool {
	return h[i].ticket().Rank.before(h[j].ticket().Rank)
}
func (h prefetchedHeap[T]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *prefetchedHeap[T]) Push(x any)   { *h = append(*h, x.(T)) }
func (h *prefetchedHeap[T]) Pop() any {
	old := *h
	x := old[len(old)-1]
	clear(old[len(old)-1:])
	*h = old[:len(old)-1]
	return x
}
