package run

import (
	"context"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestAllowance: room is shared out in order, and comes back from those who give up.
func TestAllowance(t *testing.T) {
	t.Parallel()
	g := newAllowance(10)
	ctx := t.Context()
	if !g.enter(ctx, 100) { // all there is
		t.Fatal("not let in")
	}
	hurried, cancel := context.WithCancel(ctx)
	gone := make(chan bool)
	go func() { gone <- g.enter(hurried, 5) }()
	servertest.Wait(t, 10*time.Second, "one waits", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return len(g.waiting) == 1 })
	let := make(chan bool)
	go func() { let <- g.enter(ctx, 6) }()
	servertest.Wait(t, 10*time.Second, "two wait", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return len(g.waiting) == 2 })
	cancel()
	if <-gone {
		t.Error("let in though it had given up")
	}
	g.leave(100)
	if !<-let || g.free != 4 {
		t.Error("free: ", g.free)
	}
	if !g.enter(ctx, 4) || g.free != 0 {
		t.Error("free: ", g.free)
	}
}
