package lane

import (
	"sync/atomic"
	"time"
)

// Start returns the next task that may start now and that fits accepts, or nil. The task holds its
// slots until Ended. If the first task of a lane does not fit, Start passes over the lane: over at
// most passMost lanes, unless all is true.
func (s *Lanes[T]) Start(all bool, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.order.first(fits, all)
	return t
}

// Tryout returns a task that is to try a gate, or nil. The task needs no slot of run.
func (s *Lanes[T]) Tryout(fits func(T) bool) (t T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Slots.IsClosed() || s.Slots.isQuiet() {
		return t
	}
	s.order.resume()
	for l := range s.order.tryouts {
		if barred, _ := s.order.barred(l); barred {
			s.order.place(l)
		} else if s.order.accepts(l, fits) {
			s.order.mayTry(l)
			return s.order.start(l, trySlot)
		}
	}
	return t
}

// Opened says that the task has a session to its remote. This opens the gate for other tasks. A
// task that has tried the gate starts only if run has a free slot now.
func (s *Lanes[T]) Opened(task T) (starts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	if g := s.index.gates.all[t.Lane.remote]; g != nil && g.shut {
		g.shut, g.until = false, time.Time{}
		s.order.tries(g, nil)
	}
	if t.holds == trySlot {
		if s.Slots.isFull() {
			return false
		}
		s.order.hold(s.index.of(t.Lane), t, bothSlots)
	}
	return true
}

// Shut says that the remote of a task does not answer, and when to try again, by the server's
// clock. It drops and returns the tasks that were prefetched for this remote. The task itself keeps
// its slot until Ended.
func (s *Lanes[T]) Shut(task T, until time.Time) (read []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.index.gates.all[task.ticket().Lane.remote]
	if g == nil {
		return nil
	}
	g.shut, g.until = true, until
	for l := range g.members {
		read = append(read, s.prefetched.removeAll(l)...)
	}
	s.order.tries(g, nil)
	return read
}

// Began says when the SQL of a started task began, by the server's clock. A task that runs again
// and keeps its slots begins once more.
func (s *Lanes[T]) Began(task T, at time.Time) {
	if !s.Limits.rated.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	s.order.began(s.index.of(t.Lane), t, at)
}

// Follow returns the task that runs next on the session of the task before, or nil. The SQL of
// before has run, but its end is not written yet. Its slot of run passes on at once. Its slot of
// the lane passes on only to a task of the same lane, as the session keeps their order. Otherwise
// before keeps that slot until Ended: the next task of the lane must see its effects.
func (s *Lanes[T]) Follow(before T, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := before.ticket()
	own := s.index.of(b.Lane)
	held := s.order.hold(own, b, noSlots)
	next, found := s.order.first(func(t T) bool { // a pause counts from the end, which is not written yet
		return (t.ticket().Rank.Max >= 0 || t.ticket().Lane != b.Lane) && fits(t)
	}, false)
	s.order.handOn(own, b, held, next, found)
	return next
}

// Pass ends a task as Ended does, and in the same step starts the next task that fits accepts, so
// that no other goroutine takes the slots. nil: none fits, and the task keeps its slots until
// Ended.
func (s *Lanes[T]) Pass(task T, at time.Time, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	l := s.index.of(t.Lane)
	s.order.ended(l, t, at)
	held, suspect := s.order.hold(l, t, noSlots), s.Slots.suspect
	s.Slots.ends(t)
	next, found := s.order.first(fits, false)
	if !found {
		s.order.hold(l, t, held)
		s.Slots.suspect = suspect
		return next
	}
	s.order.countEnd(l)
	s.order.place(l)
	return next
}

// Queue returns the task to send to the same session behind the task before, which has not ended
// yet, or nil. While run has free slots, it returns only a task of the same lane that must wait for
// before. crowded says that no other session will take tasks of this kind.
func (s *Lanes[T]) Queue(before T, crowded bool, fits func(T) bool) (next T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := before.ticket()
	own := s.index.of(b.Lane)
	full := crowded || s.Slots.isFull()
	if s.Slots.IsClosed() || s.Slots.isQuiet() || !full && own.startable() {
		return next
	}
	held := s.order.hold(own, b, noSlots)
	l := own
	if full {
		s.order.resume()
		l = s.order.starts.first()
	}
	found := l != nil && l.at[starting] >= 0 && s.order.accepts(l, fits)
	if found {
		next = s.order.start(l, bothSlots)
	}
	s.order.handOn(own, b, held, next, found)
	return next
}

// Rejoin makes tasks wait again that were handed out and have not run. All go in one call, which
// keeps their order. It returns the tasks that were read before the last Forget, or all tasks after
// Close: these hold no slots. after is the task, not ended yet, that the first one was to follow;
// it takes its slots again. after may be nil.
func (s *Lanes[T]) Rejoin(tasks []T, after *Ticket) (left []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, task := range tasks {
		t := task.ticket()
		l := s.index.of(t.Lane)
		s.order.began(l, t, time.Time{})
		s.order.hold(l, t, noSlots)
		if s.Slots.IsClosed() || t.Read.Before(s.prefetched.dropped) {
			left = append(left, task)
			continue
		}
		s.prefetched.add(l, task)
		s.order.place(l)
	}
	if after != nil {
		s.order.hold(s.index.of(after.Lane), after, bothSlots)
	}
	return left
}

// Ended gives back the slots that a task still holds. at is when the task ended, by the server's
// clock; zero: it never ran.
func (s *Lanes[T]) Ended(task T, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	l := s.index.of(t.Lane)
	s.Slots.ends(t)
	s.order.ended(l, t, at)
	if t.holds != noSlots {
		s.order.countEnd(l)
	}
	if s.order.hold(l, t, noSlots) == trySlot && l.trying() {
		s.order.tries(l.gate, nil)
	}
	s.index.prune(l)
}

// Occupy adds n runs of an old leader to their lane; below 0: they have ended.
func (s *Lanes[T]) Occupy(key Key, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.of(key)
	s.order.runs(l, n)
	if s.Slots.busy += n; n < 0 {
		l.ended = s.order.now()
	}
	s.order.place(l)
}

// Slots are the slots of a target: how many tasks may run at once, how many run, and why no other
// may start. Any goroutine may call its exported methods.
type Slots struct {
	now     func() time.Time // the server's clock
	run     atomic.Int64     // how many there are
	busy    int              // how many are in use
	closed  atomic.Bool
	halted  atomic.Bool
	suspect *Ticket   // the suspect that started last, until it ends; nil: none
	quiet   time.Time // until then nothing starts beside the suspect
}

// Resize changes how many tasks may run at once. If more run already, they go on.
func (s *Slots) Resize(run int) { s.run.Store(int64(run)) }

// Close ends all reading and starting, for good.
func (s *Slots) Close() { s.closed.Store(true) }

// IsClosed tells whether Close was called.
func (s *Slots) IsClosed() bool { return s.closed.Load() }

// Halt stops all starts from now on, or allows them again. Waiting tasks stay.
func (s *Slots) Halt(halted bool) { s.halted.Store(halted) }

func (s *Slots) most() int { return int(s.run.Load()) }

func (s *Slots) isFull() bool { return s.busy >= s.most() }

// quarantine is how long nothing else starts beside a suspect: a task during which the server has
// crashed before. If the server crashes again, the suspect is the cause.
const quarantine = 10 * time.Second

// isQuiet tells whether nothing may start now: the target is halted, or a suspect is in quarantine.
func (s *Slots) isQuiet() bool { return s.halted.Load() || s.suspect != nil && s.now().Before(s.quiet) }

// begins starts the quarantine if the task is a suspect.
func (s *Slots) begins(t *Ticket) {
	if t.Suspect {
		s.suspect, s.quiet = t, s.now().Add(quarantine)
	}
}

// ends ends the quarantine if the task is its suspect: it has ended, or has not begun after all.
func (s *Slots) ends(t *Ticket) {
	if s.suspect == t {
		s.suspect = nil
	}
}
