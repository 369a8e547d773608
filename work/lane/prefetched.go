package lane

import "time"

// prefetchedSet counts the tasks that lanes have read, and finds those that were read too long ago.
type prefetchedSet[T Holder] struct {
	n      int
	now    func() time.Time      // the server's clock
	fresh  time.Duration         // how long what was read is kept
	lanes  map[*lane[T]]struct{} // that have tasks, or had some lately
	looked time.Time             // at their tasks
	era    int32                 // counts what is forgotten
}

// freshMargin is how much older than fresh a task may be that starts.
const freshMargin = 500 * time.Millisecond

// lookTick is the time between two looks for old ones: short enough that none is stale before.
const lookTick = freshMargin / 2

// add lets a task wait in its lane.
func (p *prefetchedSet[T]) add(l *lane[T], t T) {
	l.prefetched.push(t)
	p.lanes[l] = struct{}{}
	p.n++
}

// remove takes out the task in a place of its lane.
func (p *prefetchedSet[T]) remove(l *lane[T], i int) T {
	p.n--
	return l.prefetched.remove(i)
}

// removeAll takes out all of a lane.
func (p *prefetchedSet[T]) removeAll(l *lane[T]) (tasks []T) {
	tasks, l.prefetched = l.prefetched, nil
	p.n -= len(tasks)
	return tasks
}

// stale tells whether the task must not start as it was read: its row may have changed, or it is
// not worth running any more.
func (p *prefetchedSet[T]) stale(t *Ticket) bool {
	return time.Since(t.Read) >= p.fresh+freshMargin || !t.Expires.IsZero() && p.now().After(t.Expires)
}

// age takes out the tasks that were read too long ago, or all. took gets those of one lane.
func (p *prefetchedSet[T]) age(all bool, took func(*lane[T], []T)) (old []T) {
	now := time.Now()
	if !all && now.Sub(p.looked) < lookTick {
		return nil
	}
	p.looked = now
	before := now.Add(-p.fresh)
	for l := range p.lanes {
		n := len(old)
		for i := 0; i < len(l.prefetched); i++ {
			t := l.prefetched[i].ticket()
			if all || t.Read.Before(before) || p.stale(t) {
				old = append(old, p.remove(l, i))
				i = -1
			}
		}
		if len(old) > n {
			took(l, old[n:])
		}
		if len(l.prefetched) == 0 {
			delete(p.lanes, l)
		}
	}
	return old
}
