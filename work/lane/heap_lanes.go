package lane

// laneHeap orders lanes by what they compete with for run. It keeps that beside each lane: most
// changes of a lane leave its place as it is, and end once that is seen.
type laneHeap[T Holder] struct {
	lanes []contender[T]
	which int // of a lane's places
}

// The heaps that a lane may be in.
const (
	fetching = iota
	starting
)

// contender is a lane, its first task and how many of its tasks are counted against it.
type contender[T Holder] struct {
	lane     *lane[T]
	id       int64
	priority int32
	busy     int
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
	c := contender[T]{l, first.ID, first.Priority, busy}
	i := l.at[h.which]
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
	i := l.at[h.which]
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
	c.lane.at[h.which] = i
}

func (h *laneHeap[T]) move(from, to int) {
	h.lanes[to] = h.lanes[from]
	h.lanes[to].lane.at[h.which] = to
}
