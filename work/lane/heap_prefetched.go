package lane

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
