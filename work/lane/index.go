package lane

import "time"

// index finds lanes by their keys. It makes a lane when first asked for it.
type index[T Holder] struct {
	all    map[Key]*lane[T]
	since  time.Time // an unknown pause may have begun up to then; zero: none can
	gates  gates[*lane[T]]
	groups groups[*lane[T]]
	order  *order[T]
}

func (x *index[T]) of(key Key) *lane[T] {
	l, ok := x.all[key]
	if !ok {
		l = &lane[T]{key: key, gate: x.gates.of(key.remote), ended: x.since, at: [3]int32{-1, -1, -1}}
		if x.all[key] = l; l.gate != nil {
			l.gate.members[l] = struct{}{}
		}
		l.join(x.groups.of(key.group))
	}
	return l
}

// named is the lane of a group and a remote. If it is known, that allocates nothing.
func (x *index[T]) named(group, remote []byte) *lane[T] {
	if len(group) > nameMost || len(remote) > nameMost {
		group, remote = []byte(Brief(string(group))), []byte(Brief(string(remote)))
	}
	if l := x.all[Key{string(group), string(remote)}]; l != nil {
		return l
	}
	return x.of(Key{string(group), string(remote)})
}

// crowdFrom is how many lanes are kept that need not be.
const crowdFrom = 10_000

// prune forgets an empty lane, once its last end, and so a pause, matters to no task that may come:
// after a while, or at once where there are many lanes and it had no pause.
func (x *index[T]) prune(l *lane[T]) {
	crowded := len(x.all) > crowdFrom && l.pause == 0
	if !l.isEmpty() || !crowded && x.order.now().Sub(l.ended) <= max(l.pause, time.Minute) {
		return
	}
	x.order.pausing.drop(l)
	delete(x.all, l.key)
	if l.gate != nil {
		delete(l.gate.members, l)
	}
	l.join(nil)
}
