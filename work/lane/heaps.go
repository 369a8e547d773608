package lane

import (
	"container/heap"
	"time"
)

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

// pauseHeap holds lanes that wait for a moment; the first of those is on top. It is a
// heap.Interface.
type pauseHeap[T Holder] []*lane[T]

func (h pauseHeap[T]) Len() int           { return len(h) }
func (h pauseHeap[T]) Less(i, j int) bool { return h[i].resumes < h[j].resumes }

func (h pauseHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].paused, h[j].paused = int32(i), int32(j)
}

func (h *pauseHeap[T]) Push(x any) {
	l := x.(*lane[T])
	l.paused = int32(len(*h))
	*h = append(*h, l)
}

func (h *pauseHeap[T]) Pop() any {
	old := *h
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	l.paused = -1
	return l
}

// put makes a lane wait until then.
func (h *pauseHeap[T]) put(l *lane[T], until time.Time) {
	moment := momentOf(until)
	same := l.resumes == moment
	l.resumes = moment
	if l.paused < 0 {
		heap.Push(h, l)
	} else if !same {
		heap.Fix(h, int(l.paused))
	}
}

// drop takes a lane out, if it is a member.
func (h *pauseHeap[T]) drop(l *lane[T]) {
	if l.paused >= 0 {
		heap.Remove(h, int(l.paused))
	}
}
