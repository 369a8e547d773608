package work

import (
	"context"
	"slices"
)

const (
	freshMost = 100_000 // short newcomers that are known; a later look finds the others
	freshLong = 20_000  // the same of the long ones,
	longMost  = 20      // and how many of these are looked at together
)

// The kinds of newcomers.
const (
	shortAfter = iota
	longAfter  // a look at it takes long
	illAfter   // it names what is known not to have ended well
)

// newcomers are successors of which it is still to be found out what they wait for. They take turns
// by role, where rows have one, else by group: who adds many keeps nobody else's waiting.
type newcomers struct {
	of      map[int32][]int64
	turns   []int32 // of those above, the next one first
	count   int     // in all of them
	room    int     // for how many of them
	most    int     // how many are looked at together
	under   []int64 // they are looked at: each of them, before others are
	leftOut bool    // some are not known, since there was no room
}

func newNewcomers(room, most int) newcomers {
	return newcomers{of: map[int32][]int64{}, room: room, most: most}
}

func (n *newcomers) waits() bool { return n.count+len(n.under) > 0 }

func (n *newcomers) add(turn int32, id int64) {
	all := n.of[turn]
	if len(all) == 0 {
		n.turns = append(n.turns, turn)
	}
	n.of[turn], n.count = append(all, id), n.count+1
}

// fits tells whether there is room for another one. Nobody has more than what is left for others.
func (n *newcomers) fits(turn int32) bool {
	fits := len(n.of[turn]) < n.room-n.count
	n.leftOut = n.leftOut || !fits
	return fits
}

// roomAgain tells whether it is worth to look for those that were left out.
func (n *newcomers) roomAgain() bool { return n.leftOut && n.count <= n.room/4 }

// take chooses those that are looked at next.
func (n *newcomers) take() []int64 {
	for taken := len(n.under); taken == 0 && len(n.under) < n.most && len(n.turns) > 0; {
		turn := n.turns[0]
		n.turns = n.turns[1:]
		all := n.of[turn]
		n.under, n.count = append(n.under, all[0]), n.count-1
		if n.of[turn] = all[1:]; len(all) > 1 {
			n.turns = append(n.turns, turn)
		} else {
			delete(n.of, turn)
		}
	}
	return n.under
}

// meet takes note of a new successor, or of one whose after was changed.
func (f *successors) meet(u *unplanned) {
	kind := shortAfter
	if u.long {
		kind = longAfter
	}
	if n := &f.fresh[kind]; !f.isFresh[u.id] && n.fits(u.turn) {
		n.add(u.turn, u.id)
		f.isFresh[u.id] = true
	}
}

// meetIll takes note of one that waits for what has not ended well.
func (f *successors) meetIll(id int64) {
	if !f.isFresh[id] {
		f.fresh[illAfter].add(0, id)
		f.isFresh[id] = true
	}
}

// roomAgain tells whether it is worth to look for newcomers that were left out.
func (f *successors) roomAgain() bool {
	return f.fresh[shortAfter].roomAgain() || f.fresh[longAfter].roomAgain()
}

// begins takes note of a look that finds all newcomers.
func (f *successors) begins() { f.fresh[shortAfter].leftOut, f.fresh[longAfter].leftOut = false, false }

// meets finds out what some newcomers wait for. Those for which there was no time come first in the
// next turn.
func (l *loop) meets(kind int) func(context.Context) error {
	return func(ctx context.Context) error {
		f := &l.successors
		n := &f.fresh[kind]
		some := n.take()
		seen, late, err := l.resolve(ctx, some)
		n.under = late
		for _, id := range some {
			switch {
			case slices.Contains(late, id):
				continue
			case seen[id]:
				delete(l.parked, id)
			default:
				l.park([]int64{id}) // somebody has locked it
			}
			delete(f.isFresh, id)
		}
		l.look.wanted = l.look.wanted || n.roomAgain()
		return err
	}
}
