package main

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestTheLimitOfMemoryFollowsWhatLives: the collector does not work without end where more lives
// than the limit, which comes back when that is gone. It does not run beside others.
func TestTheLimitOfMemoryFollowsWhatLives(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	const aim = 100 << 20
	aimAt(aim)
	lives := make([]byte, 3*aim)
	limit := func(holds func(int64) bool) {
		t.Helper()
		servertest.Wait(t, 10*time.Second, "the limit", func() bool {
			runtime.GC()
			return holds(debug.SetMemoryLimit(-1))
		})
	}
	limit(func(l int64) bool { return l > 3*aim && l < 4*aim })
	runtime.KeepAlive(lives)
	lives = nil
	limit(func(l int64) bool { return l == aim })
}
