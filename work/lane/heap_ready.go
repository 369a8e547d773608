package lane

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
