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
	all := g.enter(ctx, "a", 100) // all there is
	if all == nil {
		t.Fatal("not let in")
	}
	hurried, cancel := context.WithCancel(ctx)
	gone := make(chan bool)
	go func() { gone <- g.enter(hurried, "b", 5) != nil }()
	g.waits(t, 1)
	let := make(chan *place)
	go func() { let <- g.enter(ctx, "c", 6) }()
	g.waits(t, 2)
	cancel()
	if <-gone {
		t.Error("let in though it had given up")
	}
	g.leave(all)
	six := <-let
	if six == nil || g.free != 4 {
		t.Error("free: ", g.free)
	}
	four := g.enter(ctx, "d", 4)
	if four == nil || g.free != 0 {
		t.Error("free: ", g.free)
	}
	g.leave(six)
	if g.leave(four); g.free != 10 || len(g.held) != 0 || len(g.waiting) != 0 {
		t.Error("free in the end: ", g.free, g.held, g.waiting)
	}
}

// TestAllowanceOfSeveral: nobody has more than half of the room but for one text, and who has least
// is next.
func TestAllowanceOfSeveral(t *testing.T) {
	t.Parallel()
	g := newAllowance(10)
	ctx := t.Context()
	enter := func(owner string, n int64) chan *place {
		let := make(chan *place, 1)
		go func() { let <- g.enter(ctx, owner, n) }()
		return let
	}
	one, two := g.enter(ctx, "a", 2), g.enter(ctx, "a", 2)
	second := enter("a", 4)
	g.waits(t, 1)
	other := g.enter(ctx, "b", 1) // passes it by
	more := enter("b", 6)
	g.waits(t, 2)
	third := enter("c", 6)
	g.waits(t, 3)
	g.leave(one)
	inThird := <-third
	g.waits(t, 2)
	g.leave(inThird)
	g.waits(t, 2) // they would have more than half
	g.leave(two)
	g.leave(<-second)
	g.leave(other)
	g.leave(<-more)
	if g.free != 10 || len(g.held) != 0 {
		t.Error("free in the end: ", g.free, g.held)
	}
}

// waits waits until n wait for room.
func (g *allowance) waits(t *testing.T, n int) {
	t.Helper()
	servertest.Wait(t, 10*time.Second, "some wait", func() bool { g.mu.Lock(); defer g.mu.Unlock(); return len(g.waiting) == n })
}
