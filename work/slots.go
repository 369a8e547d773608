package work

import (
	"container/heap"
	"math"
	"time"
)

// start gives the next task that may start now and that fits accepts, or nil. Its slots are in use until ended. It looks at few lanes that do not fit; search
// looks at all of them.
func (s *lanes) start(fits func(*task) bool) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first(fits, passMost)
}

func (s *lanes) search(fits func(*task) bool) *task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first(fits, math.MaxInt)
}

// passMost is how many lanes are passed over each time. A search through 3000 takes 0.4 ms, too much for each round of the loop.
const passMost = 16

// follow gives the task that comes after another on the same session, whose SQL has run but whose end is not yet written. The
// place in run passes from one to the other at once; the slot of the lane only within the lane (where the session itself keeps the
// order): else it is in use until ended, as the next task of the lane must see what the one before has done.
func (s *lanes) follow(before *task, fits func(*task) bool) (next *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.lane(before.lane)
	own.running--
	s.busy--
	s.place(own)
	next = s.first(fits, passMost)
	switch {
	case next == nil:
		s.busy++
	case next.lane == before.lane && next.row.Max < 0: // its pause begins with the end that is not yet written
		s.putBack(own, next)
		s.busy++
		next = nil
	case next.lane == before.lane:
		before.passed = true
		own.recent++
		s.place(own)
		return next
	default:
		before.left = true
	}
	own.running++
	s.place(own)
	return next
}

// queue gives the task that is to follow on another, which has not run yet, on the same session, without a word in between. It is the one that comes next, or none: where
// there is room for more tasks at once only its own lane may say so, and only of what must wait for one of that lane; crowded: no other session will take its like.
func (s *lanes) queue(before *task, crowded bool, fits func(*task) bool) (next *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.isQuiet() {
		return nil
	}
	own := s.lane(before.lane)
	full := s.busy >= s.run || crowded
	if !full && own.startable() {
		return nil
	}
	own.running--
	s.busy--
	s.place(own)
	l := own
	if full {
		s.resumePaused()
		l = s.starts.first()
	}
	if l != nil && l.at[starting] >= 0 && !s.stale(l.prefetched.top()) && fits(l.prefetched.top()) {
		next = heap.Pop(&l.prefetched).(*task)
		next.era = s.era
		s.waiting--
		l.running++
		s.busy++
		if before.passed = l == own; before.passed {
			own.recent++
			s.place(own)
			return next
		}
		before.left = true
		s.place(l)
	} else {
		s.busy++
	}
	own.running++
	s.place(own)
	return next
}

// back undoes queue, for tasks in the order in which it gave them: the first followed on before, which has not been ended. What was read before the last forget is
// returned instead, and holds nothing.
func (s *lanes) back(before *task, tasks []*task) (left []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(tasks) - 1; i >= 0; i-- {
		t, previous := tasks[i], before
		if i > 0 {
			previous = tasks[i-1]
		}
		l := s.lane(t.lane)
		switch {
		case previous.left:
			previous.left = false
			l.running--
		case previous.passed:
			previous.passed = false
			l.recent = max(l.recent-1, 0) // pace may have forgotten it
		}
		if s.closed || t.era != s.era {
			t.passed = true
			left = append(left, t)
		} else {
			heap.Push(&l.prefetched, t)
			s.noteRead(l)
			s.waiting++
		}
		s.place(l)
	}
	return left
}

// rejoin lets tasks wait again that were begun, or were to be, and are not any more; in one, so that their order is kept. What was read before the last forget is returned
// instead, and is to be ended.
func (s *lanes) rejoin(tasks []*task) (left []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range tasks {
		l := s.lane(t.lane)
		if s.closed || t.era != s.era {
			left = append(left, t)
			continue
		}
		s.hold(l, t, -1)
		t.passed, t.left = false, false
		heap.Push(&l.prefetched, t)
		s.noteRead(l)
		s.waiting++
		s.place(l)
	}
	return left
}

func (s *lanes) putBack(l *lane, t *task) {
	if s.suspect == t {
		s.suspect = nil
	}
	heap.Push(&l.prefetched, t)
	s.noteRead(l)
	s.waiting++
	l.running--
	s.busy--
}

// first takes the best startable task that fits accepts. Lanes whose first task does not fit are passed over, most of them at most.
func (s *lanes) first(fits func(*task) bool, most int) *task {
	if s.closed || s.busy >= s.run || s.isQuiet() {
		return nil
	}
	s.resumePaused()
	var passed []*lane
	defer func() {
		for _, l := range passed {
			s.place(l)
		}
	}()
	for s.starts.len() > 0 && len(passed) < most {
		l := s.starts.first()
		if t := l.prefetched.top(); s.stale(t) || !fits(t) {
			s.starts.drop(l)
			passed = append(passed, l)
			continue
		}
		s.busy++
		return s.pop(l)
	}
	return nil
}

// pop starts the first of the lane's read tasks.
func (s *lanes) pop(l *lane) *task {
	t := heap.Pop(&l.prefetched).(*task)
	s.waiting--
	l.running++
	s.place(l)
	if t.row.Suspect {
		s.suspect, s.quiet = t, s.now().Add(quarantine)
	}
	return t
}

// quarantine is how long nothing else starts beside a task during which the server has crashed before: if it does so again, it is
// known who it was.
const quarantine = 10 * time.Second

func (s *lanes) isQuiet() bool { return s.suspect != nil && s.now().Before(s.quiet) }

// pass ends a task and starts the next one that fits accepts, in one: nobody else gets in between. When there is none, the
// task holds what it held, until ended.
func (s *lanes) pass(t *task, at time.Time, fits func(*task) bool) (next *task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(t.lane)
	if !at.IsZero() {
		l.ended, l.planned = at, t.row.Plan
	}
	suspect := s.suspect
	s.hold(l, t, -1)
	if suspect == t {
		s.suspect = nil
	}
	if next = s.first(fits, passMost); next == nil {
		s.hold(l, t, +1)
		s.suspect = suspect
		return nil
	}
	t.passed = true
	l.recent++
	s.place(l)
	s.prune(t.lane, l)
	return next
}

// hold gives back, or takes again, what a task holds.
func (s *lanes) hold(l *lane, t *task, n int) {
	if !t.passed {
		l.running += n
		if !t.left && !t.tries {
			s.busy += n
		}
	}
	s.place(l)
}

// ended gives back what a task still holds when its end is known, at a time by the server's clock (zero: it never ran).
func (s *lanes) ended(t *task, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(t.lane)
	if s.suspect == t {
		s.suspect = nil
	}
	if !at.IsZero() {
		l.ended, l.planned = at, t.row.Plan
	}
	if !t.passed {
		l.recent++
	}
	s.hold(l, t, -1)
	if t.tries {
		t.tries = false
		s.untry(l)
	}
	s.prune(t.lane, l)
}

// occupy counts a run that is not ours, an old leader's, in its lane; vacate ends that.
func (s *lanes) occupy(key laneKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(key)
	l.running++
	s.busy++
	s.place(l)
}

func (s *lanes) vacate(key laneKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(key)
	l.running--
	s.busy--
	l.ended = s.now()
	s.place(l)
}

// drop takes out a task that is read but not started; false when it has started or is not known.
func (s *lanes) drop(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(t.lane)
	for i, other := range l.prefetched {
		if other == t {
			heap.Remove(&l.prefetched, i)
			s.waiting--
			s.untryIdle(l)
			s.place(l)
			return true
		}
	}
	return false
}
