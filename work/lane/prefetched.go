package lane

import "time"

// prefetchedSet counts the tasks that lanes have read, and finds those that were read too long ago.
type prefetchedSet[T Holder] struct {
	n       int
	now     func() time.Time      // the server's clock
	fresh   time.Duration         // how long what was read is kept
	lanes   map[*lane[T]]struct{} // that have tasks, or had some lately
	looked  time.Time             // at their tasks
	dropped time.Time             // all that was read before
}

const (
	freshMargin = 500 * time.Millisecond // a task that is older than fresh by more must not start
	lookTick    = freshMargin / 2        // between two looks for old ones: none is stale before
)

func (p *prefetchedSet[T]) add(l *lane[T], t T) {
	l.prefetched.push(t)
	p.lanes[l] = struct{}{}
	p.n++
}

func (p *prefetchedSet[T]) remove(l *lane[T], i int) T {
	p.n--
	return l.prefetched.remove(i)
}

func (p *prefetchedSet[T]) removeAll(l *lane[T]) (tasks []T) {
	tasks, l.prefetched = l.prefetched, nil
	p.n -= len(tasks)
	return tasks
}

// stale tells whether a task must not start as it was read: its row may have changed, or it is not
// worth running any more.
func (p *prefetchedSet[T]) stale(t *Ticket) bool {
	return time.Since(t.Read) >= p.fresh+freshMargin || !t.Expires.IsZero() && p.now().After(t.Expires)
}

// age takes out the tasks that must not start as they were read, or soon will not, or all.
func (p *prefetchedSet[T]) age(all bool) (old []T) {
	now := time.Now()
	if !all && now.Sub(p.looked) < lookTick {
		return nil
	}
	p.looked = now
	before := now.Add(-p.fresh)
	for l := range p.lanes {
		for i := 0; i < len(l.prefetched); i++ {
			t := l.prefetched[i].ticket()
			if all || t.Read.Before(before) || p.stale(t) {
				old = append(old, p.remove(l, i))
				i = -1
			}
		}
		if len(l.prefetched) == 0 {
			delete(p.lanes, l)
		}
	}
	return old
}
