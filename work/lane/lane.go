package lane

import (
	"math"
	"time"
)

// lane is all that is known of the tasks with one group and one remote. Lanes owns it.
type lane[T Holder] struct {
	key        Key
	gate       *gate[T]   // before its remote; nil: it has none
	group      *group[T]  // with the limits of its group; nil: there are none
	ready      heap[Rank] // due, not read
	fresh      heap[Rank] // what a fill under way has found, in no order
	prefetched heap[T]    // read, not started
	fetching   int        // chosen for the read under way
	best       Rank       // of those, the one that comes first
	running    int        // slots in use: by tasks that we have started, or an old leader's
	recent     int        // ended by then, half of them forgotten at each beat: see lately
	beat       int        // the beat of that

	ended   time.Time     // when a task of the lane last ended, by the server's clock; zero: unknown
	planned time.Time     // that task's plan; zero: unknown
	pause   time.Duration // the longest that was asked for here

	at [3]int32 // places in the heaps of lanes, -1: not there
}

// first is the ticket of the first of the prefetched tasks.
func (l *lane[T]) first() *Ticket { return l.prefetched[0].ticket() }

// isEmpty tells whether nothing of the lane waits or runs.
func (l *lane[T]) isEmpty() bool {
	return l.running <= 0 && l.fetching <= 0 && len(l.ready)+len(l.prefetched)+len(l.fresh) == 0
}

// room tells whether a task with this max may start while busy tasks of its lane run.
func room(maximum int32, busy int) bool { return busy <= int(max(maximum, 0)) }

// room tells the same of a task of this lane while busy tasks run in it, and others in other lanes
// of its group.
func (l *lane[T]) room(maximum int32, busy int) bool {
	return room(maximum, busy) && (l.group == nil || l.group.slots < 0 || busy+l.group.running-l.running < l.group.slots)
}

// prefetchable tells whether the first of the ready tasks may start once it is read, or is likely
// to be wanted soon: ahead is how many more of the lane are likely to end until then.
func (l *lane[T]) prefetchable(ahead int) bool {
	if len(l.ready) == 0 {
		return false
	}
	if l.group != nil {
		if credit := l.group.credit(); credit >= 0 && !l.outranked() && len(l.prefetched)+l.fetching >= credit {
			return false
		}
	}
	top := l.ready[0]
	switch {
	case l.outranked() && top.Max < 0:
		return l.room(top.Max, l.running+l.fetching)
	case l.outranked():
		return l.room(top.Max, l.running+l.fetching-ahead)
	case top.Max < 0:
		return l.room(top.Max, l.running+len(l.prefetched)+l.fetching)
	default:
		return l.room(top.Max, l.running+len(l.prefetched)+l.fetching-ahead)
	}
}

// startable tells whether the first of the prefetched tasks may start.
func (l *lane[T]) startable() bool {
	return len(l.prefetched) > 0 && l.room(l.first().Rank.Max, l.running) &&
		!l.outranked() && !l.overtaken()
}

// outranked tells whether a ready task comes before all prefetched ones: they wait for it.
func (l *lane[T]) outranked() bool {
	return len(l.ready) > 0 && len(l.prefetched) > 0 &&
		l.ready[0].before(l.first().Rank)
}

// overtaken tells whether a task whose read is under way comes before all prefetched ones: they
// wait for it.
func (l *lane[T]) overtaken() bool {
	return l.fetching > 0 && len(l.prefetched) > 0 && l.best.before(l.first().Rank)
}

// pauseEnds is when the lane's first task may start, if it asks for a pause: with drift, when the
// pause has passed since the end of the one before; without, at the first multiple of the pause
// after that end, counted from the plan of the one before. Whether a task drifts is known once it
// is read; before that the earlier of the two holds.
func (l *lane[T]) pauseEnds() time.Time {
	var maximum int32
	var drift bool
	switch {
	case len(l.prefetched) > 0 && !l.outranked():
		first := l.first()
		maximum, drift = first.Rank.Max, first.Drift
	case len(l.ready) > 0:
		maximum = l.ready[0].Max
	}
	if maximum >= 0 {
		return time.Time{}
	}
	pause := time.Duration(-int64(maximum)) * time.Millisecond
	l.pause = max(l.pause, pause)
	if l.ended.IsZero() {
		return time.Time{}
	}
	if drift || l.planned.IsZero() || l.planned.After(l.ended) {
		return l.ended.Add(pause)
	}
	// In microseconds: a plan may be further back than a time.Duration reaches.
	every, planned := pause.Microseconds(), l.planned.UnixMicro()
	periods := (l.ended.UnixMicro()-planned)/every + 1
	return time.UnixMicro(planned + periods*every)
}

// trying tells whether the lane's task tries the gate: no other is to be read meanwhile.
func (l *lane[T]) trying() bool { return l.gate != nil && l.gate.tries == l }

// place puts a lane where it now belongs. It is called after each change of a lane.
func (s *Lanes[T]) place(l *lane[T]) {
	if l.trying() && len(l.prefetched)+l.fetching+l.running == 0 {
		s.untry(l) // the task that was to try is not there any more
	}
	if barred, until := s.barred(l); barred {
		s.pauses(l, until)
		return
	}
	if l.group != nil {
		if held, until := l.group.held(s.now()); held {
			s.pauses(l, until)
			if l.trying() && l.fetching+l.running == 0 { // others may try instead
				s.untry(l)
			}
			return
		}
	}
	ends := l.pauseEnds()
	if !ends.IsZero() && s.now().Before(ends) {
		s.pauses(l, ends)
		return
	}
	s.pausing.drop(l)
	if s.mayPrefetch(l) {
		top := l.ready[0]
		if l.outranked() { // what is prefetched waits for it
			top.Priority = math.MaxInt32
		}
		s.fetches.put(l, top, l.running+len(l.prefetched)+l.fetching)
	} else {
		s.fetches.drop(l)
	}
	delete(s.tryouts, l)
	switch {
	case !l.startable():
		s.starts.drop(l)
	case l.gate != nil && l.gate.shut:
		s.starts.drop(l)
		s.tryouts[l] = struct{}{}
	default:
		s.starts.put(l, l.first().Rank, l.running)
	}
}

// pauses takes the lane out until then; zero: until something else puts it back.
func (s *Lanes[T]) pauses(l *lane[T], until time.Time) {
	if until.IsZero() {
		s.pausing.drop(l)
	} else {
		s.pausing.put(l, Rank{ID: until.Add(time.Microsecond - 1).UnixMicro()}, 0)
	}
	s.fetches.drop(l)
	s.starts.drop(l)
	delete(s.tryouts, l)
}

// resumePaused puts back the lanes whose moment has come.
func (s *Lanes[T]) resumePaused() {
	if len(s.pausing.heap) == 0 {
		return
	}
	for now := s.now(); len(s.pausing.heap) > 0 && !now.Before(s.resumes()); {
		l := s.pausing.first()
		s.pausing.drop(l)
		s.place(l)
	}
}

// resumes is the moment that the first of the lanes waits for that wait for one.
func (s *Lanes[T]) resumes() time.Time { return time.UnixMicro(s.pausing.heap[0].order.ID) }

// Wake is when the next pause ends, by the server's clock; false when no task waits for one.
func (s *Lanes[T]) Wake() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.halted:
		return time.Time{}, false
	case s.isQuiet():
		return s.quiet, true
	case len(s.pausing.heap) == 0:
		return time.Time{}, false
	}
	return s.resumes(), true
}
