package lane

import "time"

// lane is all that is known of the tasks with one group and one remote.
type lane[T Holder] struct {
	key        Key
	gate       *gate[*lane[T]]  // before its remote; nil: it has none
	group      *group[*lane[T]] // with the limits of its group; nil: there are none
	ready      heap[Rank]       // due, not read
	fresh      heap[Rank]       // what a fill under way has found, in no order
	prefetched heap[T]          // read, not started
	fetching   int              // chosen for the read under way
	best       Rank             // of those, the one that comes first
	running    int              // slots in use: by tasks that we have started, or an old leader's
	recent     int              // ended by then, half of them forgotten at each beat: see lately
	beat       int              // the beat of that

	ended   time.Time     // when a task of the lane last ended, by the server's clock; zero: unknown
	planned time.Time     // that task's plan; zero: unknown
	pause   time.Duration // the longest that was asked for here

	at [3]int32 // places in the heaps of lanes, -1: not there
}

// join makes the lane one of a group, instead of the one it was in; nil: there are no limits.
func (l *lane[T]) join(g *group[*lane[T]]) {
	if l.group != nil {
		delete(l.group.members, l)
		l.group.running -= l.running
	}
	if l.group = g; g != nil {
		g.members[l] = struct{}{}
		g.running += l.running
	}
}

// lately is how many tasks have ended a short time ago: half of them are forgotten at each beat.
func (l *lane[T]) lately(beat int) int { return l.recent >> min(beat-l.beat, 63) }

func (l *lane[T]) first() *Ticket { return l.prefetched[0].ticket() }

func (l *lane[T]) isEmpty() bool {
	return l.running <= 0 && l.fetching <= 0 && len(l.ready)+len(l.prefetched)+len(l.fresh) == 0
}

// room tells whether a task with this max may start while busy tasks run in the lane, and others in
// other lanes of its group.
func (l *lane[T]) room(maximum int32, busy int) bool {
	g := l.group
	return busy <= int(max(maximum, 0)) && (g == nil || g.slots < 0 || busy+g.running-l.running < g.slots)
}

// prefetchable tells whether the first of the ready tasks may start once it is read, or is likely
// to be wanted soon: ahead is how many more of the lane are likely to end until then.
func (l *lane[T]) prefetchable(ahead int) bool {
	if len(l.ready) == 0 {
		return false
	}
	top, read := l.ready[0], l.fetching
	if !l.outranked() {
		read += len(l.prefetched)
		if l.group != nil {
			if credit := l.group.credit(); credit >= 0 && read >= credit {
				return false
			}
		}
	}
	if top.Max < 0 {
		ahead = 0
	}
	return l.room(top.Max, l.running+read-ahead)
}

// startable tells whether the first of the prefetched tasks may start.
func (l *lane[T]) startable() bool {
	return len(l.prefetched) > 0 && l.room(l.first().Rank.Max, l.running) && !l.outranked() && !l.overtaken()
}

// outranked tells whether a ready task comes before all prefetched ones: they wait for it.
func (l *lane[T]) outranked() bool {
	return len(l.ready) > 0 && len(l.prefetched) > 0 && l.ready[0].before(l.first().Rank)
}

// overtaken tells whether a task that is being read comes before all prefetched ones.
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
func (l *lane[T]) trying() bool { return l.gate != nil && l.gate.by == l }
