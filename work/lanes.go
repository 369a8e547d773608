package work

import (
	"container/heap"
	"sync"
	"time"
)

// lanes decides which task of a target is read and which is started next. Pure bookkeeping: it knows no database.
// All methods may be called from any goroutine; the loop and the runners share it.
type lanes struct {
	mu        sync.Mutex
	run       int // most tasks at once
	ahead     int // how many tasks may be read beyond those that can start now
	busy      int // of run, in use
	waiting   int // read and not started
	ready     int // in PLAN
	gathered  int // in PLAN, of the fill under way, where nothing else is known
	closed    bool
	era       int // counts what is forgotten
	all       map[laneKey]*lane
	gates     map[string]*gate   // by remote
	crowded   map[*gate]struct{} // shut, and not tried because run others are
	trying    int                // gates that are tried
	tryouts   map[*lane]struct{} // lanes whose first read task may try their gate
	known     *idSet             // the ready ones: a scan may bring a task again
	filling   *idSet             // those of the fill under way, nil when there is none
	drawn     *idSet             // those that were read since it began
	only      bool               // what the fill under way finds is not known before its end
	last      *lane              // that of the task added last
	readings  []reading          // the oldest first
	fresh     time.Duration      // how long what was read is kept
	fetches   laneHeap
	starts    laneHeap
	fetched   []*lane            // with tasks in the read under way
	outranked map[*lane]struct{} // lanes whose first ready task comes before all read ones
	pausing   map[*lane]struct{} // lanes whose first task has a pause before it
	resume    time.Time          // when the first of those pauses is over
	suspect   *task              // that runs; nothing else starts while it is young
	quiet     time.Time          // until then
	now       func() time.Time   // the server's clock
	since     time.Time          // a pause may have begun up to then that we know nothing of; zero: none can
}

func newLanes(run int, now func() time.Time) *lanes {
	return &lanes{
		run: run, now: now, fresh: freshForLong,
		all: map[laneKey]*lane{}, gates: map[string]*gate{}, crowded: map[*gate]struct{}{}, tryouts: map[*lane]struct{}{}, known: newIDSet(), pausing: map[*lane]struct{}{}, outranked: map[*lane]struct{}{},
		fetches: laneHeap{which: fetching}, starts: laneHeap{which: starting},
	}
}

// resize changes how many tasks may run at once. Those that run over it go on.
func (s *lanes) resize(run int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
}

func (s *lanes) lane(key laneKey) *lane {
	l, ok := s.all[key]
	if !ok {
		l = &lane{key: key, gate: s.gateOf(key.remote), ended: s.since, at: [2]int{-1, -1}}
		if s.all[key] = l; l.gate != nil {
			l.gate.lanes[l] = struct{}{}
		}
	}
	return l
}

// choose picks the tasks to be read now, in order: those that may start, and some that will be wanted before the next
// read comes back. It must be followed by take, with those that the read has really brought.
func (s *lanes) choose(most int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	most = min(most, s.run+s.ahead-s.busy-s.waiting)
	s.resumePaused()
	if s.closed {
		return nil
	}
	spare := min(batchMost, 2*(s.run+s.ahead)-s.busy-s.waiting)
	for l := range s.outranked { // what is read there waits for those that are not: there must be room for them, for one at least
		for n := 0; l.outranked() && s.mayFetch(l) && (n == 0 || len(ids) < spare); n++ {
			ids = append(ids, s.chosen(l))
		}
	}
	for l := s.next(); l != nil && len(ids) < most; l = s.next() {
		ids = append(ids, s.chosen(l))
	}
	for more := 0; more < s.run && s.unheard(); more++ {
		ids = append(ids, s.chosen(s.fetches.first()))
	}
	return ids
}

// next is the first of the lanes to be read; nil: there is none. One whose gate cannot be tried
// now, as others are, is put aside.
func (s *lanes) next() *lane {
	for s.fetches.len() > 0 {
		l := s.fetches.first()
		if barred, _ := s.barred(l); !barred {
			return l
		}
		s.place(l)
	}
	return nil
}

// unheard tells whether the first of the lanes to be read, of which nothing is read, would be the next to start: however much of others is read, it must
// not wait for that.
func (s *lanes) unheard() bool {
	l, next := s.next(), s.starts.first()
	if l == nil {
		return false
	}
	if len(l.prefetched)+l.fetching > 0 {
		return false
	}
	if next == nil {
		return true
	}
	a, b := l.ready.top().priority, next.prefetched.top().rank.priority
	return a > b || a == b && l.running < next.running
}

func (s *lanes) chosen(l *lane) int64 {
	top := l.ready.pop()
	s.known.remove(top.id)
	s.ready--
	if l.fetching == 0 || top.before(l.best) {
		l.best = top
	}
	if l.fetching++; l.fetching == 1 {
		s.fetched = append(s.fetched, l)
	}
	s.place(l)
	s.try(l)
	return top.id
}

// take brings the tasks that were read, which may now be started, and ends what choose began.
func (s *lanes) take(tasks []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.fetched {
		l.fetching = 0
		s.place(l)
		s.prune(l.key, l)
	}
	for _, t := range tasks {
		l := s.lane(t.lane)
		heap.Push(&l.prefetched, t)
		s.noteRead(l)
		s.waiting++
		s.place(l)
		if s.filling != nil {
			s.drawn.add(t.row.ID)
		}
	}
	for _, l := range s.fetched {
		if len(l.prefetched) == 0 {
			s.untry(l)
		}
	}
	clear(s.fetched)
	s.fetched = s.fetched[:0]
}

// forget drops all that waits, as when leadership is lost or at a drain, and returns what was read and not started.
func (s *lanes) forget() (read []*task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, l := range s.all {
		read = append(read, l.prefetched...)
		l.ready, l.prefetched, l.fresh, l.fetching = nil, nil, nil, 0
		s.place(l)
		s.prune(key, l)
	}
	s.known, s.filling, s.drawn, s.fetched = newIDSet(), nil, nil, nil
	s.only, s.gathered, s.readings = false, 0, nil
	s.waiting, s.ready = 0, 0
	for _, g := range s.gates {
		if g.tries != nil && g.tries.running == 0 {
			s.setTries(g, nil)
		}
	}
	s.era++
	return read
}

// close lets nothing be read or started any more.
func (s *lanes) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// isClosed tells that nothing is to start any more.
func (s *lanes) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// doubt says that pauses may be under way that began up to now, unknown to us.
func (s *lanes) doubt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = s.now()
	for _, l := range s.all {
		l.ended, l.planned = s.since, time.Time{}
		s.place(l)
	}
}

// pace is called at regular times with the number of tasks that may be read ahead; lanes forget what they ended before.
func (s *lanes) pace(ahead int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead = ahead
	for key, l := range s.all {
		if l.recent > 0 {
			l.recent /= 2
			s.place(l)
		}
		s.prune(key, l)
	}
	s.sweep()
}

// prune forgets a lane that is empty, unless a pause in it may matter to a task that is still to come.
func (s *lanes) prune(key laneKey, l *lane) {
	if l.running > 0 || l.fetching > 0 || len(l.ready) > 0 || len(l.prefetched) > 0 || len(l.fresh) > 0 {
		return
	}
	if l.pause == 0 && len(s.all) > 10_000 || s.now().Sub(l.ended) > max(l.pause, time.Minute) {
		delete(s.pausing, l)
		delete(s.outranked, l)
		delete(s.all, key)
		s.leave(l)
		if s.last == l {
			s.last = nil
		}
	}
}

// load tells how many tasks run, are read but not started, and are due in PLAN.
func (s *lanes) load() (busy, waiting, ready int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy, s.waiting, s.ready + s.gathered
}

// stocked tells whether more than n tasks are read that need not wait for others to be.
func (s *lanes) stocked(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting > n && len(s.outranked) == 0
}

// fetchable tells whether choose would find anything.
func (s *lanes) fetchable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumePaused()
	if s.closed || s.next() == nil {
		return false
	}
	if s.run+s.ahead > s.busy+s.waiting || s.unheard() {
		return true
	}
	for l := range s.outranked {
		if s.mayFetch(l) {
			return true
		}
	}
	return false
}

// wake is when the next pause ends; false when no task waits for one.
func (s *lanes) wake() (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isQuiet() {
		return s.quiet, true
	}
	return s.resume, len(s.pausing) > 0
}

// place puts a lane where it now belongs.
func (s *lanes) place(l *lane) {
	if barred, until := s.barred(l); barred {
		delete(s.outranked, l)
		delete(s.pausing, l)
		s.pauses(l, until)
		return
	}
	if l.outranked() {
		s.outranked[l] = struct{}{}
	} else {
		delete(s.outranked, l)
	}
	ends := l.pauseEnds()
	if !ends.IsZero() && s.now().Before(ends) {
		s.pauses(l, ends)
		return
	}
	delete(s.pausing, l)
	if s.mayFetch(l) {
		s.fetches.put(l, l.ready.top(), l.running+len(l.prefetched)+l.fetching)
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
		s.starts.put(l, l.prefetched.top().rank, l.running)
	}
}

// mayFetch tells whether the lane's first ready task is to be read.
func (s *lanes) mayFetch(l *lane) bool {
	barred, _ := s.barred(l)
	return !barred && !l.trying() && l.fetchable(s.ahead)
}

// pauses takes the lane out until then; zero: until something else puts it back.
func (s *lanes) pauses(l *lane, until time.Time) {
	if !until.IsZero() {
		if len(s.pausing) == 0 || until.Before(s.resume) {
			s.resume = until
		}
		s.pausing[l] = struct{}{}
	}
	s.fetches.drop(l)
	s.starts.drop(l)
	delete(s.tryouts, l)
}

// resumePaused puts back the lanes whose pause is over.
func (s *lanes) resumePaused() {
	if len(s.pausing) == 0 || s.now().Before(s.resume) {
		return
	}
	paused := s.pausing
	s.pausing = map[*lane]struct{}{}
	for l := range paused {
		s.place(l)
	}
}
