package lane

import "time"

// readySet counts the ready tasks and keeps their ids. The lanes keep their ranks.
type readySet[T Holder] struct {
	n       int
	known   idSet      // all ready tasks: a scan may find a task again
	filling idSet      // found by the fill under way and not read since; nil: no fill is under way
	chosen  []*lane[T] // lanes with tasks in the read under way
}

// add makes a task of a lane ready; false: it was ready already.
func (r *readySet[T]) add(l *lane[T], rank Rank) (added bool) {
	if added = r.known.add(rank.ID); added {
		l.ready.push(rank)
		r.n++
	}
	if r.filling != nil && r.filling.add(rank.ID) {
		l.fresh = append(l.fresh, rank)
	}
	return added
}

// choose removes the lane's first ready task, and returns its id to be read.
func (r *readySet[T]) choose(l *lane[T]) int64 {
	top := l.ready.remove(0)
	r.known.remove(top.ID)
	r.n--
	if l.fetching == 0 || top.before(l.best) {
		l.best = top
	}
	if l.fetching++; l.fetching == 1 {
		r.chosen = append(r.chosen, l)
	}
	return top.ID
}

// filled ends a fill: the tasks that it found, without those read since, replace all ready tasks.
// False: no fill was under way.
func (r *readySet[T]) filled(lanes map[Key]*lane[T]) bool {
	found := r.filling
	if found == nil {
		return false
	}
	r.known, r.filling, r.n = idSet{}, nil, 0
	for _, l := range lanes {
		l.ready = l.fresh[:0]
		for _, rank := range l.fresh {
			if found.remove(rank.ID) && r.known.add(rank.ID) {
				l.ready.push(rank)
			}
		}
		l.fresh = nil
		r.n += len(l.ready)
	}
	return true
}

// idSet is a set of task ids. Ids come from a sequence and lie close together, so each word holds a
// block of 64 ids. A million ids take some hundred kilobytes; a plain map would take 40 megabytes.
type idSet map[int64]uint64

// add returns false if the id was a member already.
func (s idSet) add(id int64) bool {
	block, bit := id>>6, uint64(1)<<(id&63)
	word := s[block]
	if word&bit != 0 {
		return false
	}
	s[block] = word | bit
	return true
}

// remove returns false if the id was no member.
func (s idSet) remove(id int64) bool {
	block, bit := id>>6, uint64(1)<<(id&63)
	word, rest := s[block], s[block]&^bit
	if rest == 0 {
		delete(s, block)
	} else {
		s[block] = rest
	}
	return word != rest
}

// heap keeps its first element on top. When leadership begins, it takes in a million ranks;
// container/heap would need three times as long for that.
type heap[E ranked] []E

func (h heap[E]) set(i int, e E) {
	h[i] = e
	e.moved(i)
}

func (h heap[E]) up(i int) {
	e := h[i]
	for i > 0 && e.rank().before(h[(i-1)/2].rank()) {
		h.set(i, h[(i-1)/2])
		i = (i - 1) / 2
	}
	h.set(i, e)
}

func (h heap[E]) down(i int) {
	e := h[i]
	for child := 2*i + 1; child < len(h); child = 2*i + 1 {
		if child+1 < len(h) && h[child+1].rank().before(h[child].rank()) {
			child++
		}
		if !h[child].rank().before(e.rank()) {
			break
		}
		h.set(i, h[child])
		i = child
	}
	h.set(i, e)
}

func (h *heap[E]) push(e E) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

func (h *heap[E]) remove(i int) E {
	old, end := *h, len(*h)-1
	e := old[i]
	old[i] = old[end]
	clear(old[end:])
	if *h = old[:end]; i < end {
		h.settle(i)
	}
	e.moved(-1)
	return e
}

// settle moves element i to its place.
func (h heap[E]) settle(i int) {
	h.down(i)
	h.up(i)
}

// laneHeap orders lanes by how they compete for run, or by the time that they wait for. It keeps
// this order beside each lane, because most changes of a lane do not change its place.
type laneHeap[T Holder] struct {
	heap[contender[T]]
	which int // index in lane.at
}

// The heaps that a lane may be in.
const (
	fetching = iota
	starting
	pausing
)

// contender is a lane in a laneHeap. Its order is not a task's rank: higher priority comes first,
// then the lane with fewer busy tasks, then the lower id of its first task (in pausing: the earlier
// time).
type contender[T Holder] struct {
	lane  *lane[T]
	which int
	order Rank
}

func (c contender[T]) rank() Rank  { return c.order }
func (c contender[T]) moved(i int) { c.lane.at[c.which] = int32(i) }

func (h *laneHeap[T]) first() *lane[T] {
	if len(h.heap) == 0 {
		return nil
	}
	return h.heap[0].lane
}

// put adds a lane, or moves it to its new place.
func (h *laneHeap[T]) put(l *lane[T], first Rank, busy int) {
	c := contender[T]{l, h.which, Rank{ID: first.ID, Max: first.Priority, Priority: -int32(busy)}}
	switch i := int(l.at[h.which]); {
	case i < 0:
		h.push(c)
	case h.heap[i] != c:
		h.heap[i] = c
		h.settle(i)
	}
}

func (h *laneHeap[T]) drop(l *lane[T]) {
	if i := int(l.at[h.which]); i >= 0 {
		h.remove(i)
	}
}

// prefetchedSet counts the prefetched tasks in lanes, and finds those that were read too long ago.
type prefetchedSet[T Holder] struct {
	n       int
	now     func() time.Time      // the server's clock
	fresh   time.Duration         // how long a task is kept after it was read
	lanes   map[*lane[T]]struct{} // with prefetched tasks, or with some recently
	looked  time.Time             // when age last looked at their tasks
	dropped time.Time             // the last Forget: tasks read before it are dropped
}

const (
	freshMargin = 500 * time.Millisecond // a task older than fresh plus this must not start
	lookTick    = freshMargin / 2        // how often age looks: often enough to find tasks before they are stale
)

func (p *prefetchedSet[T]) add(l *lane[T], t T) {
	l.prefetched.push(t)
	p.lanes[l] = struct{}{}
	p.n++
}

func (p *prefetchedSet[T]) remove(l *lane[T], i int) T {
	p.n--
	return l.prefetched.remove(i)
}

func (p *prefetchedSet[T]) removeAll(l *lane[T]) (tasks []T) {
	tasks, l.prefetched = l.prefetched, nil
	p.n -= len(tasks)
	return tasks
}

// stale tells whether a task must not start as it was read: it was read too long ago, so its row
// may have changed, or it has expired.
func (p *prefetchedSet[T]) stale(t *Ticket) bool {
	return time.Since(t.Read) >= p.fresh+freshMargin || !t.Expires.IsZero() && p.now().After(t.Expires)
}

// age removes and returns the tasks that are stale or will soon be (or all tasks).
func (p *prefetchedSet[T]) age(all bool) (old []T) {
	now := time.Now()
	if !all && now.Sub(p.looked) < lookTick {
		return nil
	}
	p.looked = now
	before := now.Add(-p.fresh)
	for l := range p.lanes {
		for i := 0; i < len(l.prefetched); i++ {
			t := l.prefetched[i].ticket()
			if all || t.Read.Before(before) || p.stale(t) {
				old = append(old, p.remove(l, i))
				i = -1
			}
		}
		if len(l.prefetched) == 0 {
			delete(p.lanes, l)
		}
	}
	return old
}
