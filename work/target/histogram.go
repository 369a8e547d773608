package target

import (
	"sync/atomic"
	"time"
)

// Buckets are the upper bounds of the times that are counted together.
var Buckets = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
	2 * time.Second, 10 * time.Second, time.Minute, 5 * time.Minute, 20 * time.Minute, time.Hour, 4 * time.Hour,
}

// histogram counts times by how long they are. Any goroutine may use it.
type histogram struct {
	counts [len(Buckets) + 1]atomic.Uint64 // the last: those over all bounds
	sum    atomic.Int64                    // nanoseconds
}

func (h *histogram) observe(d time.Duration) {
	d = max(d, 0) // clocks differ
	n := 0
	for n < len(Buckets) && d > Buckets[n] {
		n++
	}
	h.counts[n].Add(1)
	h.sum.Add(int64(d))
}

// Times are the times that were observed.
type Times struct {
	Counts [len(Buckets) + 1]uint64 // by bucket, the last over all bounds
	Sum    time.Duration
}

// Count is how many there were.
func (t Times) Count() (n uint64) {
	for _, c := range t.Counts {
		n += c
	}
	return n
}

func (h *histogram) read() (t Times) {
	for i := range h.counts {
		t.Counts[i] = h.counts[i].Load()
	}
	t.Sum = time.Duration(h.sum.Load())
	return t
}
