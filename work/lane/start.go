package lane

import (
	"sync/atomic"
	"time"
)

// Start gives the next task that may start now and that fits accepts, or nil. Its slots are in use
// until Ended. It passes over a few lanes whose first task does not fit, or over all.
func (s *Lanes[T]) Start(all bool, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, _ := s.order.first(fits, all)
	return t
}

// Tryout gives a task that is to try a gate, or nil. It needs, and awaits, no place in run.
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
			t = s.order.start(l)
			t.ticket().tries = true
			return t
		}
	}
	return t
}

// Opened says that the task has a session to its remote: others may open theirs. A task that has
// tried the gate starts only if there is a place in run by now.
func (s *Lanes[T]) Opened(task T) (starts bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	if g := s.index.gates.all[t.Lane.remote]; g != nil && g.shut {
		g.shut, g.until = false, time.Time{}
		s.order.tries(g, nil)
	}
	if t.tries && s.Slots.isFull() {
		return false
	}
	if t.tries {
		t.tries = false
		s.Slots.busy++
	}
	return true
}

// Shut says that the remote of a task gives no answer, and when to try again, by the server's
// clock. It forgets and returns what was prefetched for that. The task keeps its slot until Ended.
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

// Began says that the SQL of a task that was started has begun, at a time by the server's clock. A
// task that is run again without being given back begins once more.
func (s *Lanes[T]) Began(task T, at time.Time) {
	if !s.Limits.rated.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	s.order.began(s.index.of(t.Lane), t, at)
}

// Follow gives the task that comes after another on the same session, whose SQL has run but whose
// end is not yet written, or nil. The place in run passes on at once. The slot of the lane passes
// on only within the lane, where the session itself keeps the order. Else it is in use until Ended:
// the next task of the lane must see what the one before has done.
func (s *Lanes[T]) Follow(before T, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := before.ticket()
	own := s.index.of(b.Lane)
	s.order.hold(own, b, -1)
	next, found := s.order.first(func(t T) bool { // a pause begins with the end that is not yet written
		return (t.ticket().Rank.Max >= 0 || t.ticket().Lane != b.Lane) && fits(t)
	}, false)
	s.order.handOn(own, b, next, found)
	return next
}

// Pass ends a task at a time as in Ended, and starts the next one that fits accepts, before anybody
// else can. nil: there is none, and the task holds what it held, until Ended.
func (s *Lanes[T]) Pass(task T, at time.Time, fits func(T) bool) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	l := s.index.of(t.Lane)
	s.order.ended(l, t, at)
	s.order.hold(l, t, -1)
	suspect := s.Slots.suspect
	s.Slots.ends(t)
	next, found := s.order.first(fits, false)
	if !found {
		s.order.hold(l, t, +1)
		s.Slots.suspect = suspect
		return next
	}
	t.passed = true
	s.order.countEnd(l)
	s.order.place(l)
	return next
}

// Queue gives the task that comes next after another, which has not run yet, to be sent to the same
// session with it, or nil. While more tasks may run at once, that is only one of its own lane that
// must wait for it. crowded says that no other session will take tasks of this kind.
func (s *Lanes[T]) Queue(before T, crowded bool, fits func(T) bool) (next T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := before.ticket()
	own := s.index.of(b.Lane)
	full := crowded || s.Slots.isFull()
	if s.Slots.IsClosed() || s.Slots.isQuiet() || !full && own.startable() {
		return next
	}
	s.order.hold(own, b, -1)
	l := own
	if full {
		s.order.resume()
		l = s.order.starts.first()
	}
	found := l != nil && l.at[starting] >= 0 && s.order.accepts(l, fits)
	if found {
		s.Slots.busy++
		next = s.order.start(l)
	}
	s.order.handOn(own, b, next, found)
	return next
}

// Rejoin makes tasks wait again that were handed out and have not run: all in one call, which keeps
// their order. It returns those that were read before the last Forget, or all after Close: they hold
// nothing. after is the task, not ended yet, which the first was to follow: it holds its slots
// again. nil: there is none.
func (s *Lanes[T]) Rejoin(tasks []T, after *Ticket) (left []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, task := range tasks {
		t := task.ticket()
		l := s.index.of(t.Lane)
		s.order.began(l, t, time.Time{})
		s.order.hold(l, t, -1)
		t.passed, t.left = s.Slots.IsClosed() || t.Read.Before(s.prefetched.dropped), false
		if t.passed {
			left = append(left, task)
			continue
		}
		s.prefetched.add(l, task)
		s.order.place(l)
	}
	if after != nil {
		l := s.index.of(after.Lane)
		if s.Slots.busy++; after.passed {
			s.order.runs(l, +1)
		}
		after.passed, after.left = false, false
		s.order.place(l)
	}
	return left
}

// Ended gives back what a task still holds. It has ended at that time, by the server's clock; zero:
// it never ran.
func (s *Lanes[T]) Ended(task T, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	l := s.index.of(t.Lane)
	s.Slots.ends(t)
	s.order.ended(l, t, at)
	if !t.passed {
		s.order.countEnd(l)
	}
	s.order.hold(l, t, -1)
	if t.tries {
		if t.tries = false; l.trying() {
			s.order.tries(l.gate, nil)
		}
	}
	s.index.prune(l)
}

// Occupy counts n runs of an old leader in their lane; below 0: they have ended.
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

// Slots are those of a target: how many tasks may run at once, how many do, and why no others may
// start. Any goroutine may call its exported methods.
type Slots struct {
	now     func() time.Time // the server's clock
	run     atomic.Int64     // most tasks at once
	busy    int              // of run, in use
	closed  atomic.Bool
	halted  atomic.Bool
	suspect *Ticket   // the one that started last, until it ends; nil: none
	quiet   time.Time // until then nothing starts beside it
}

// Resize changes how many tasks may run at once. Those that run over it go on.
func (s *Slots) Resize(run int) { s.run.Store(int64(run)) }

// Close lets nothing be read or started any more, for good.
func (s *Slots) Close() { s.closed.Store(true) }

// IsClosed tells that nothing is to start any more.
func (s *Slots) IsClosed() bool { return s.closed.Load() }

// Halt has nothing start from now on, or lets it start again. What waits stays.
func (s *Slots) Halt(halted bool) { s.halted.Store(halted) }

func (s *Slots) most() int { return int(s.run.Load()) }

func (s *Slots) isFull() bool { return s.busy >= s.most() }

// quarantine is how long nothing else starts beside a suspect: a task during which the server has
// crashed before. If it crashes again, the suspect is the cause.
const quarantine = 10 * time.Second

// isQuiet tells whether nothing may start for now: beside the suspect that runs, or at all.
func (s *Slots) isQuiet() bool { return s.halted.Load() || s.suspect != nil && s.now().Before(s.quiet) }

// begins takes note of a task that starts.
func (s *Slots) begins(t *Ticket) {
	if t.Suspect {
		s.suspect, s.quiet = t, s.now().Add(quarantine)
	}
}

// ends takes note that a task has ended, or has not begun after all.
func (s *Slots) ends(t *Ticket) {
	if s.suspect == t {
		s.suspect = nil
	}
}
