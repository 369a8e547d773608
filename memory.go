package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The garbage collector runs when the heap has grown by a tenth. A million waiting tasks are a
// large heap that hardly changes; without them a tenth would be a few hundred tasks. ballastSize,
// in bytes, counts as heap, so that a tenth is 13 MB at least. It is never touched, so it takes no
// memory.
//
// Above memoryAim, which the longest outputs of 32 tasks reach, it collects more often, unless the
// heap is larger than that (see aimAt). GOMEMLIMIT overrides it.
const (
	gcPercent   = 10
	ballastSize = 128 << 20
	memoryAim   = 330 << 20
)

// aimAt makes aim the limit above which the garbage collector works more. With a larger heap, as of
// a million lanes, it would take half of a core to collect without end and find nothing: then the
// limit is a little above the heap.
func aimAt(aim int64) {
	debug.SetMemoryLimit(aim)
	follow(aim, aim)
}

// follow looks after each collection.
func follow(aim, limit int64) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if next := limitFor(aim, limit, int64(live[0].Value.Uint64())); next != limit {
			limit = next
			debug.SetMemoryLimit(limit)
		}
		follow(aim, limit)
	})
}

// limitFor is the limit where so much lives; it changes only by much.
func limitFor(aim, limit, live int64) int64 {
	switch {
	case live > limit/10*9, live < limit/10*7:
		return max(aim, live/10*12)
	}
	return limit
}
