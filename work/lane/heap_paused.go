package lane

import (
	"container/heap"
	"time"
)

// pauseHeap holds lanes that wait for a moment; the first of those is on top. It is a
// heap.Interface.
type pauseHeap[T Holder] []*lane[T]

func (h pauseHeap[T]) Len() int           { return len(h) }
func (h pauseHeap[T]) Less(i, j int) bool { return h[i].resumes.Before(h[j].resumes) }

func (h pauseHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].paused, h[j].paused = i, j
}

func (h *pauseHeap[T]) Push(x any) {
	l := x.(*lane[T])
	l.paused = len(*h)
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
	same := l.resumes.Equal(until)
	l.resumes = until
	if l.paused < 0 {
		heap.Push(h, l)
	} else if !same {
		heap.Fix(h, l.paused)
	}
}

// drop takes a lane out, if it is a member.
func (h *pauseHeap[T]) drop(l *lane[T]) {
	if l.paused >= 0 {
		heap.Remove(h, l.paused)
	}
}
