package work

import "container/heap"

// readyHeap holds the due tasks of a lane, 16 bytes each; the first to be claimed is on top. It moves a million of them when leadership
// begins, which through heap.Interface would take thrice as long.
type readyHeap []rank

func (h readyHeap) top() rank { return h[0] }

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

func (h *readyHeap) pop() rank {
	old := *h
	top, end := old[0], len(old)-1
	old[0] = old[end]
	if *h = old[:end]; end > 0 {
		h.down(0)
	}
	return top
}

// takenHeap holds the claimed tasks of a lane that have not started.
type takenHeap []*task

func (h takenHeap) top() *task         { return h[0] }
func (h takenHeap) Len() int           { return len(h) }
func (h takenHeap) Less(i, j int) bool { return h[i].rank.before(h[j].rank) }
func (h takenHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *takenHeap) Push(x any)        { *h = append(*h, x.(*task)) }
func (h *takenHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return x
}

// laneHeap orders lanes by their first task; at tells where a lane keeps its place, so that it can be found again.
type laneHeap struct {
	lanes []*lane
	less  func(a, b *lane) bool
	at    func(*lane) *int
}

func (h *laneHeap) Len() int           { return len(h.lanes) }
func (h *laneHeap) Less(i, j int) bool { return h.less(h.lanes[i], h.lanes[j]) }
func (h *laneHeap) Swap(i, j int) {
	h.lanes[i], h.lanes[j] = h.lanes[j], h.lanes[i]
	*h.at(h.lanes[i]), *h.at(h.lanes[j]) = i, j
}

func (h *laneHeap) Push(x any) {
	l := x.(*lane)
	*h.at(l) = len(h.lanes)
	h.lanes = append(h.lanes, l)
}

func (h *laneHeap) Pop() any {
	l := h.lanes[len(h.lanes)-1]
	h.lanes[len(h.lanes)-1] = nil
	h.lanes = h.lanes[:len(h.lanes)-1]
	*h.at(l) = -1
	return l
}

// first is the lane on top, nil if there is none.
func (h *laneHeap) first() *lane {
	if len(h.lanes) == 0 {
		return nil
	}
	return h.lanes[0]
}

// put makes a lane a member or not, and moves it to where its first task belongs.
func (h *laneHeap) put(l *lane, member bool) {
	i := *h.at(l)
	switch {
	case member && i < 0:
		heap.Push(h, l)
	case member:
		heap.Fix(h, i)
	case i >= 0:
		heap.Remove(h, i)
	}
}

// claimsBefore and startsBefore are the order between lanes that compete for run: higher priority, then the lane that
// runs fewest, then the lower id.
func claimsBefore(a, b *lane) bool {
	return lanesBefore(a.ready.top(), a.running+len(a.taken)+a.claiming, b.ready.top(), b.running+len(b.taken)+b.claiming)
}

func startsBefore(a, b *lane) bool {
	return lanesBefore(a.taken.top().rank, a.running, b.taken.top().rank, b.running)
}

func lanesBefore(a rank, busyA int, b rank, busyB int) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if busyA != busyB {
		return busyA < busyB
	}
	return a.id < b.id
}
