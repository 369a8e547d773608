package lane

import (
	"sync"
	"time"
)

// Lanes decides which task of a target is read next and which is started. It hands out values of
// T, a pointer: nil where there is none to give. Any goroutine may call its methods.
type Lanes[T Holder] struct {
	Slots  Slots
	Limits Limits

	mu         sync.Mutex
	index      index[T]
	order      order[T]
	ready      readySet[T]
	prefetched prefetchedSet[T]
}

// New makes lanes in which at most run tasks run at once. What is read is kept for fresh; now is
// the server's clock.
func New[T Holder](run int, fresh time.Duration, now func() time.Time) *Lanes[T] {
	s := &Lanes[T]{
		Slots:      Slots{now: now},
		Limits:     Limits{now: now, ended: map[ruleKey]time.Time{}},
		ready:      readySet[T]{known: idSet{}},
		prefetched: prefetchedSet[T]{now: now, fresh: fresh, lanes: map[*lane[T]]struct{}{}},
	}
	s.Slots.Resize(run)
	s.index.all, s.index.order = map[Key]*lane[T]{}, &s.order
	s.index.gates.all = map[string]*gate[*lane[T]]{}
	s.index.groups.all, s.index.groups.limits = map[string]*group[*lane[T]]{}, &s.Limits
	s.order = order[T]{
		now: now, slots: &s.Slots, gates: &s.index.gates, read: &s.prefetched, tryouts: map[*lane[T]]struct{}{},
		fetches: laneHeap[T]{which: fetching}, starts: laneHeap[T]{which: starting}, pausing: laneHeap[T]{which: pausing},
	}
	return s
}

// Load tells how many tasks run, are prefetched but not started, and are ready.
func (s *Lanes[T]) Load() (busy, prefetched, ready int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Slots.busy, s.prefetched.n, s.ready.n
}

// Wake is when the next pause ends, by the server's clock; false when no task waits for one.
func (s *Lanes[T]) Wake() (at time.Time, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.Slots.isQuiet():
		return s.Slots.quiet, !s.Slots.halted.Load()
	case len(s.order.pausing.heap) == 0:
		return time.Time{}, false
	}
	return s.order.resumes(), true
}

// Pace is called all the time. From time to time it measures how fast tasks end.
func (s *Lanes[T]) Pace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.order.paced) >= paceTick {
		s.order.pace(min(4*s.order.ends, mostAhead))
	}
}

// Limit makes these the limits that hold from now on. What runs goes on. It tells whether a pause
// has ended by that, and when the next one ends by itself; zero: none will.
func (s *Lanes[T]) Limit(limits []Limit) (resumed bool, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	none := len(limits)+len(s.Limits.all) == 0
	if resumed, next = s.Limits.change(limits); !none {
		s.index.groups.change()
		for _, l := range s.index.all {
			before := l.group
			if l.join(s.index.groups.of(l.key.group)); before != nil || l.group != nil {
				s.order.place(l)
			}
		}
	}
	return resumed, next
}

// Doubt says that pauses may be under way that began up to now and are not known here, and that
// tasks may have started of which nothing is known.
func (s *Lanes[T]) Doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.order.now()
	s.Limits.doubt(now)
	s.index.since = now
	for _, l := range s.index.all {
		l.ended, l.planned = now, time.Time{}
		s.order.place(l)
	}
}

// Forget drops all that waits, as when leadership is lost or at a drain, and returns what was
// prefetched and not started. What runs keeps its slots until Ended.
func (s *Lanes[T]) Forget() (read []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.index.all {
		read = append(read, s.prefetched.removeAll(l)...)
		l.ready, l.fresh, l.fetching = nil, nil, 0
		s.order.place(l)
		s.index.prune(l)
	}
	s.ready = readySet[T]{known: idSet{}}
	clear(s.prefetched.lanes)
	s.prefetched.dropped = time.Now()
	return read
}
