package lane

import (
	"sync"
	"time"
)

// Lanes decides which task of a target is read next and which starts next. It hands out values of
// T, a pointer; nil means no task. Any goroutine may call its methods.
type Lanes[T Holder] struct {
	Slots  Slots
	Limits Limits

	mu         sync.Mutex
	index      index[T]
	order      order[T]
	ready      readySet[T]
	prefetched prefetchedSet[T]
}

// New makes lanes in which at most run tasks run at once. A task stays prefetched for the time
// fresh; now is the server's clock.
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

// Load returns how many tasks run, how many are prefetched, and how many are ready.
func (s *Lanes[T]) Load() (busy, prefetched, ready int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Slots.busy, s.prefetched.n, s.ready.n
}

// Wake returns when the next waiting lane may go on, or when the quarantine of a suspect ends, by
// the server's clock; false: no time is known.
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

// Pace measures every paceTick how fast tasks end. The loop calls it in each round.
func (s *Lanes[T]) Pace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.order.paced) >= paceTick {
		s.order.pace(min(4*s.order.ends, mostAhead))
	}
}

// Limit replaces all limits. Running tasks go on. It returns whether this has ended a pause, and
// when the next pause ends by itself; zero: none does.
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

// Doubt says that tasks unknown to us may have started and ended up to now. So each lane waits one
// whole pause, and each rate its whole period.
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

// Forget drops all waiting tasks, at a drain or when leadership is lost, and returns those that
// were prefetched. Running tasks keep their slots until Ended.
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

// lane is the state of all tasks with one group and one remote.
type lane[T Holder] struct {
	key        Key
	gate       *gate[*lane[T]]  // of its remote; nil: the target's own database
	group      *group[*lane[T]] // nil: its group has no limits
	ready      heap[Rank]       // due, not read
	fresh      heap[Rank]       // found by the fill under way, in no order
	prefetched heap[T]          // read, not started
	fetching   int              // how many are chosen for the read under way
	best       Rank             // the first of the chosen ones
	running    int              // slots in use, by our tasks and by those of an old leader
	recent     int              // recent ends, halved at each beat: see lately
	beat       int              // when recent was last changed

	ended   time.Time     // when a task of the lane last ended, by the server's clock; zero: unknown
	planned time.Time     // the plan of the task that ended last; zero: unknown
	pause   time.Duration // the longest pause that a task of the lane had

	at [3]int32 // its places in the heaps of lanes; -1: not there
}

// join moves the lane to a group; nil: its group has no limits.
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

// lately is how many tasks have ended recently: each beat halves the number.
func (l *lane[T]) lately(beat int) int { return l.recent >> min(beat-l.beat, 63) }

func (l *lane[T]) first() *Ticket { return l.prefetched[0].ticket() }

func (l *lane[T]) isEmpty() bool {
	return l.running <= 0 && l.fetching <= 0 && len(l.ready)+len(l.prefetched)+len(l.fresh) == 0
}

// room tells whether a task with this max may start while busy tasks run in the lane. It also
// counts what runs in other lanes of the group.
func (l *lane[T]) room(maximum int32, busy int) bool {
	g := l.group
	return busy <= int(max(maximum, 0)) && (g == nil || g.slots < 0 || busy+g.running-l.running < g.slots)
}

// prefetchable tells whether the first ready task should be read: it could start once it is read,
// if ahead more tasks of the lane end until then.
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

func (l *lane[T]) startable() bool {
	return len(l.prefetched) > 0 && l.room(l.first().Rank.Max, l.running) && !l.outranked() && !l.overtaken()
}

// outranked tells whether a ready task comes before all prefetched ones. They wait until it is
// read.
func (l *lane[T]) outranked() bool {
	return len(l.ready) > 0 && len(l.prefetched) > 0 && l.ready[0].before(l.first().Rank)
}

// overtaken tells whether a task that is being read comes before all prefetched ones.
func (l *lane[T]) overtaken() bool {
	return l.fetching > 0 && len(l.prefetched) > 0 && l.best.before(l.first().Rank)
}

// pauseEnds returns when the pause before the lane's first task ends; zero: it has none. With
// drift, the pause counts from the end of the previous task. Without, it ends at the first multiple
// of the pause after that end, counted from the plan of the previous task. Drift is not known until
// a task is read; until then the earlier time (no drift) holds. It also keeps the longest pause, for
// prune.
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
	// In microseconds: a plan may be longer ago than a time.Duration can say.
	every, planned := pause.Microseconds(), l.planned.UnixMicro()
	periods := (l.ended.UnixMicro()-planned)/every + 1
	return time.UnixMicro(planned + periods*every)
}

// trying tells whether a task of the lane tries the gate. Meanwhile no other task of it is read.
func (l *lane[T]) trying() bool { return l.gate != nil && l.gate.by == l }

// index finds lanes by their keys, and makes a lane at its first use.
type index[T Holder] struct {
	all    map[Key]*lane[T]
	since  time.Time // unknown tasks may have ended up to then; zero: none
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

// named returns the lane of a group and a remote. It allocates nothing if the lane exists.
func (x *index[T]) named(group, remote []byte) *lane[T] {
	if len(group) > nameMost || len(remote) > nameMost {
		group, remote = []byte(Brief(string(group))), []byte(Brief(string(remote)))
	}
	if l := x.all[Key{string(group), string(remote)}]; l != nil {
		return l
	}
	return x.of(Key{string(group), string(remote)})
}

// crowdFrom is the number of lanes from which on prune drops lanes without a pause at once.
const crowdFrom = 10_000

// prune drops an empty lane once no later task has to pause after its last end: after a minute or
// its longest pause. If there are many lanes, it drops a lane that never had a pause at once.
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
