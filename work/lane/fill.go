package lane

import (
	"slices"
	"time"
)

// Add makes a due task ready; one that is ready already is passed over. The names are not kept, nor
// made strings where the lane is known. An empty remote is the target's own database.
func (s *Lanes[T]) Add(group, remote []byte, r Rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.last
	if len(group) > nameMost || len(remote) > nameMost {
		group, remote = []byte(Brief(string(group))), []byte(Brief(string(remote)))
	}
	if l == nil || l.key.group != string(group) || l.key.remote != string(remote) {
		known, ok := s.all[Key{string(group), string(remote)}]
		if !ok {
			known = s.lane(Key{string(group), string(remote)})
		}
		l, s.last = known, known
	}
	// The lane's place depends on its first task alone.
	if s.makeReady(l, r) && l.ready[0].ID == r.ID {
		s.place(l)
	}
}

// makeReady adds a task to its lane, where it is not known already; true when it has become ready.
func (s *Lanes[T]) makeReady(l *lane[T], r Rank) (ready bool) {
	if s.known.add(r.ID) {
		l.ready.push(r)
		s.ready++
		ready = true
	}
	if s.filling == nil {
		return ready
	}
	if s.filling.add(r.ID) {
		l.fresh = append(l.fresh, r)
	}
	return ready
}

// Fill starts to gather all that is due, beside what is known, so that tasks whose priority, group
// or plan was changed find their place; between Fill and Filled, Add counts for both. Where nothing
// is known there is nothing to replace. It forgets what it can.
func (s *Lanes[T]) Fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.all {
		l.fresh = nil
	}
	s.tidy()
	if s.filling = nil; s.ready > 0 {
		s.filling = newIDSet()
	}
}

// Filled puts what was gathered in the place of what was known. What has been read since it was
// seen is left out: tasks that cannot be read again would stand before all others of their lane
// until each has been tried.
func (s *Lanes[T]) Filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.filling == nil {
		return
	}
	found := s.filling
	s.known, s.filling, s.ready = newIDSet(), nil, 0
	for _, l := range s.all {
		l.ready = slices.DeleteFunc(l.fresh, func(r Rank) bool { return !found.has(r.ID) || !s.known.add(r.ID) })
		l.fresh = nil
		l.ready.order()
		s.ready += len(l.ready)
		s.place(l)
	}
}

// freshMargin is how much older than fresh a task may be that starts.
const freshMargin = 500 * time.Millisecond

// stale tells whether the task must not start as it was read: its row may have changed, or it is
// not worth running any more.
func (s *Lanes[T]) stale(t *Ticket) bool {
	return time.Since(t.Read) >= s.fresh+freshMargin ||
		!t.Expires.IsZero() && s.now().After(t.Expires)
}

// holding are the lanes that have, or had lately, prefetched tasks.
type holding[T Holder] struct {
	lanes  map[*lane[T]]struct{}
	looked time.Time // at their tasks
}

// holdingTick is the time between two looks at them, so short that no task is stale before it is
// met.
const holdingTick = freshMargin / 2

// Unread takes out the tasks that were read so long ago and have not started, or all of them. They
// are ready again.
func (s *Lanes[T]) Unread(all bool) (old []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !all && now.Sub(s.holding.looked) < holdingTick {
		return nil
	}
	s.holding.looked = now
	before := now.Add(-s.fresh)
	for l := range s.holding.lanes {
		n := len(old)
		for i := 0; i < len(l.prefetched); i++ {
			t := l.prefetched[i].ticket()
			if all || t.Read.Before(before) || s.stale(t) {
				old = append(old, l.prefetched.remove(i))
				s.prefetched--
				s.makeReady(l, t.Rank)
				i = -1
			}
		}
		if len(old) > n {
			s.place(l)
		}
		if len(l.prefetched) == 0 {
			delete(s.holding.lanes, l)
		}
	}
	return old
}

// Enter makes a task ready that has been ended and waits again.
func (s *Lanes[T]) Enter(task T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		t := task.ticket()
		l := s.lane(t.Lane)
		s.makeReady(l, t.Rank)
		s.place(l)
	}
}
