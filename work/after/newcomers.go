package after

import "pgtaskd/work/hold"

// newcomersMost is how many newcomers are known; a later scan finds the others.
const newcomersMost = 1_000_000

// newcomers are successors of which it is still to be found out what they wait for.
type newcomers struct {
	known   map[int64]bool
	waiting []int64
}

func (n *newcomers) any() bool { return len(n.known) > 0 }

func (n *newcomers) add(id int64) {
	if !n.known[id] && len(n.known) < newcomersMost {
		n.known[id], n.waiting = true, append(n.waiting, id)
	}
}

// next takes some of them. They stay known until they were looked at.
func (n *newcomers) next() (ids []int64) {
	ids = n.waiting[:min(len(n.waiting), hold.Batch)]
	n.waiting = n.waiting[len(ids):]
	return ids
}
