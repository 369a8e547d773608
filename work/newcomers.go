package work

import (
	"context"
	"slices"
)

// freshMost is how many newcomers are known; a later look finds the others.
const freshMost = 1_000_000

// newcomers are successors of which it is still to be found out what they wait for.
type newcomers struct {
	known   map[int64]bool
	waiting []int64
	late    []int64 // those for which there was no time: they come first
}

// add takes note of a successor: a new one, one whose after was changed, or one that waits for what
// has not ended well.
func (n *newcomers) add(id int64) {
	if !n.known[id] && len(n.known) < freshMost {
		n.known[id], n.waiting = true, append(n.waiting, id)
	}
}

// meetNewcomers finds out what some newcomers wait for.
func (l *loop) meetNewcomers(ctx context.Context) error {
	n := &l.successors.fresh
	fresh := min(len(n.waiting), batchMost-min(len(n.late), batchMost))
	some := append(n.late, n.waiting[:fresh]...)
	seen, late, err := l.resolve(ctx, some)
	n.late, n.waiting = late, n.waiting[fresh:]
	for _, id := range some {
		switch {
		case slices.Contains(late, id):
			continue
		case seen[id]:
			delete(l.parked, id)
		default:
			l.park([]int64{id}) // somebody has locked it
		}
		delete(n.known, id)
	}
	return err
}
