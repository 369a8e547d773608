package lane

import (
	"sync"
	"sync/atomic"
	"time"
)

// Lanes decides which task of a target is read and which is started next. It hands out values of
// T, which is a pointer; where there is none to give, it gives nil. All methods may be called from
// any goroutine.
type Lanes[T Holder] struct {
	mu         sync.Mutex
	run        int // most tasks at once
	ahead      int // how many tasks may be read beyond those that can start now
	busy       int // of run, in use
	prefetched int // read and not started
	ready      int // due, not read
	closed     bool
	halted     bool
	era        int32 // counts what is forgotten
	all        map[Key]*lane[T]
	gates      map[string]*gate[T]   // by remote
	trying     int                   // gates that are tried
	tryouts    map[*lane[T]]struct{} // lanes whose first prefetched task may try their gate
	known      *idSet                // the ready ones: a scan may bring a task again
	filling    *idSet                // those of the fill under way that have not been read since, nil when there is none
	last       *lane[T]              // that of the task added last
	holding    holding[T]
	fresh      time.Duration        // how long what was read is kept
	fetches    laneHeap[T]          // lanes whose first ready task is to be read
	starts     laneHeap[T]          // lanes whose first prefetched task may start
	fetched    []*lane[T]           // with tasks in the read under way
	pausing    laneHeap[T]          // lanes that wait for a moment: the end of a pause, a try of their gate, room under a rate
	suspect    *Ticket              // the one that started last, until it ends; nil: none
	quiet      time.Time            // until then nothing starts beside it
	now        func() time.Time     // the server's clock
	since      time.Time            // an unknown pause may have begun up to then; zero: none can
	rules      rules                // limits of groups
	groups     map[string]*group[T] // that have some, by the key of their lanes
	rated      atomic.Bool          // there are rates
	beat       int                  // counts the calls of Pace
}

// New makes lanes in which at most run tasks run at once. What is read is kept for fresh. now is the server's clock; it is called under the lock of the lanes.
func New[T Holder](run int, fresh time.Duration, now func() time.Time) *Lanes[T] {
	return &Lanes[T]{
		run: run, now: now, fresh: fresh, known: newIDSet(),
		all: map[Key]*lane[T]{}, gates: map[string]*gate[T]{},
		tryouts: map[*lane[T]]struct{}{}, holding: holding[T]{lanes: map[*lane[T]]struct{}{}},
		groups: map[string]*group[T]{}, rules: rules{ended: map[name]time.Time{}},
		fetches: laneHeap[T]{which: fetching}, starts: laneHeap[T]{which: starting}, pausing: laneHeap[T]{which: pausing},
	}
}

// Resize changes how many tasks may run at once. Those that run over it go on.
func (s *Lanes[T]) Resize(run int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
}

// lane is the lane of a key, which is made when it is first asked for.
func (s *Lanes[T]) lane(key Key) *lane[T] {
	l, ok := s.all[key]
	if !ok {
		l = &lane[T]{key: key, gate: s.gateOf(key.remote), ended: s.since, at: [3]int32{-1, -1, -1}}
		if s.all[key] = l; l.gate != nil {
			l.gate.lanes[l] = struct{}{}
		}
		s.join(l)
	}
	return l
}

// Forget drops all that waits, as when leadership is lost or at a drain, and returns what was
// prefetched and not started. What runs keeps its slots until Ended.
func (s *Lanes[T]) Forget() (read []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.all {
		read = append(read, l.prefetched...)
		l.ready, l.prefetched, l.fresh, l.fetching = nil, nil, nil, 0
		s.place(l)
		s.prune(l)
	}
	s.known, s.filling, s.fetched = newIDSet(), nil, nil
	clear(s.holding.lanes)
	s.prefetched, s.ready = 0, 0
	s.era++
	return read
}

// Close lets nothing be read or started any more. It cannot be undone.
func (s *Lanes[T]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// IsClosed tells that nothing is to start any more.
func (s *Lanes[T]) IsClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Halt has nothing start from now on, or lets it start again. What waits stays.
func (s *Lanes[T]) Halt(halted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.halted = halted
}

// Doubt says that pauses may be under way that began up to now and are not known here, and that
// tasks may have started of which nothing is known.
func (s *Lanes[T]) Doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = s.now()
	s.rules.doubt(s.since)
	for _, l := range s.all {
		l.ended, l.planned = s.since, time.Time{}
		s.place(l)
	}
}

// Pace is called at regular times with the number of tasks that may be read ahead of those that
// can start. With each call lanes forget half of what they have ended.
func (s *Lanes[T]) Pace(ahead int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = ahead
	s.beat++
}

// lately is how many tasks of the lane have ended a short time ago.
func (s *Lanes[T]) lately(l *lane[T]) int { return l.recent >> min(s.beat-l.beat, 63) }

// hasEnded counts a task of the lane that has ended.
func (s *Lanes[T]) hasEnded(l *lane[T]) { l.recent, l.beat = s.lately(l)+1, s.beat }

// tidy forgets lanes that are empty, gates that stand before nothing, and groups that have no lane,
// once there is nothing that they must remember.
func (s *Lanes[T]) tidy() {
	now := s.now()
	for _, l := range s.all {
		s.prune(l)
	}
	for remote, g := range s.gates {
		if len(g.lanes) == 0 && !now.Before(g.until) {
			delete(s.gates, remote)
		}
	}
	for name, g := range s.groups {
		if len(g.lanes) == 0 && g.remembersNothing(now) {
			delete(s.groups, name)
		}
	}
}

// prune forgets a lane that is empty, unless a pause in it may matter to a task that is still to
// come: after a while, or at once where there are many lanes and it had no pause.
func (s *Lanes[T]) prune(l *lane[T]) {
	crowded := len(s.all) > crowdFrom && l.pause == 0
	if s.all[l.key] != l || !l.isEmpty() || !crowded && s.now().Sub(l.ended) <= max(l.pause, time.Minute) {
		return
	}
	s.pausing.drop(l)
	delete(s.all, l.key)
	if l.gate != nil {
		delete(l.gate.lanes, l)
	}
	s.leaveGroup(l)
	if s.last == l {
		s.last = nil
	}
}

// crowdFrom is how many lanes are kept that need not be.
const crowdFrom = 10_000

// Load tells how many tasks run, are prefetched but not started, and are ready.
func (s *Lanes[T]) Load() (busy, prefetched, ready int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy, s.prefetched, s.ready
}

// idSet is a set of task ids. Ids come from a sequence and lie close together, so that a block of
// 64 in a word makes a million of them cost some hundred kilobytes, where a map would take forty
// megabytes. The word used last is kept apart, since the next id is mostly of the same block.
type idSet struct {
	words map[int64]uint64
	block int64 // that of word
	word  uint64
}

func newIDSet() *idSet { return &idSet{words: map[int64]uint64{}} }

func (s *idSet) turnTo(block int64) {
	if s.block == block {
		return
	}
	if s.word == 0 {
		delete(s.words, s.block)
	} else {
		s.words[s.block] = s.word
	}
	s.block, s.word = block, s.words[block]
}

// add returns false when the id was a member already.
func (s *idSet) add(id int64) bool {
	s.turnTo(id >> 6)
	bit := uint64(1) << (id & 63)
	if s.word&bit != 0 {
		return false
	}
	s.word |= bit
	return true
}

func (s *idSet) has(id int64) bool {
	s.turnTo(id >> 6)
	return s.word&(1<<(id&63)) != 0
}

func (s *idSet) remove(id int64) {
	s.turnTo(id >> 6)
	s.word &^= 1 << (id & 63)
}
