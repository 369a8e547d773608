package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The garbage collector waits for a tenth of what lives, and so for little more where a million
// waiting tasks are a large heap that hardly changes than where there are none. ballastSize, in
// bytes, counts as living, so that this is 13 MB, and not a few hundred tasks. It is never touched,
// so it takes no memory.
//
// Above memoryAim, which the longest outputs of 32 tasks reach, it collects more often, unless what
// lives is more than that (see aimAt); GOMEMLIMIT says otherwise.
const (
	gcPercent   = 10
	ballastSize = 128 << 20
	memoryAim   = 330 << 20
)

// aimAt makes aim the limit above which the garbage collector works more. Where what lives is more
// than that, as with a million lanes, collecting without end would take half of a core and find
// nothing: then the limit is a little above what lives.
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
