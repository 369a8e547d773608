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
