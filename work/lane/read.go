package lane

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Add makes a due task ready, if it is not. It keeps none of the bytes. An empty remote is the
// target's own database.
func (s *Lanes[T]) Add(group, remote []byte, r Rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.named(group, remote)
	// The lane's place depends on its first task alone.
	if s.ready.add(l, r) && l.ready[0].ID == r.ID {
		s.order.place(l)
	}
}

// Enter makes a task ready that has been ended and waits again.
func (s *Lanes[T]) Enter(task T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Slots.IsClosed() {
		t := task.ticket()
		l := s.index.of(t.Lane)
		s.ready.add(l, t.Rank)
		s.order.place(l)
	}
}

// Fill starts to gather all that is due, beside what is known, so that tasks whose priority, group
// or plan was changed find their place. Until Filled, Add counts for both. Fill forgets empty lanes.
func (s *Lanes[T]) Fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.index.all {
		l.fresh = nil
		s.index.prune(l)
	}
	s.index.gates.tidy(s.order.now())
	s.index.groups.tidy(s.order.now())
	if s.ready.filling = nil; s.ready.n > 0 { // else there is nothing to replace
		s.ready.filling = idSet{}
	}
}

// Filled replaces what was known by what was gathered. It leaves out what has been read since: tasks
// that cannot be read again would stand before all others of their lane until each has been tried.
func (s *Lanes[T]) Filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready.filled(s.index.all) {
		for _, l := range s.index.all {
			s.order.place(l)
		}
	}
}

// Prefetchable tells whether Choose would find anything.
func (s *Lanes[T]) Prefetchable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order.resume()
	l, free := s.order.next(), s.Slots.most()+s.order.ahead > s.Slots.busy+s.prefetched.n
	return !s.Slots.IsClosed() && l != nil && (free || l.outranked() || s.order.unheard())
}

// Choose picks the ids of the tasks to be read now, in order: those that may start, and some that
// will be wanted before the next read comes back. There are at most so many, and one of each lane
// that would wait for others otherwise. Prefetched must follow.
func (s *Lanes[T]) Choose(most int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.order.resume(); s.Slots.IsClosed() {
		return nil
	}
	var ids []int64
	size, used := s.Slots.most()+s.order.ahead, s.Slots.busy+s.prefetched.n
	spare, most := min(most, 2*size-used), min(most, size-used)
	// What is prefetched in an outranked lane waits for what is ready there. So these lanes come
	// first, and there is room for one task of each at least.
	for l := s.order.next(); l != nil; l = s.order.next() {
		if len(ids) >= most && !(l.outranked() && (l.fetching == 0 || len(ids) < spare)) {
			break
		}
		ids = append(ids, s.choose(l))
	}
	for more := s.Slots.most(); more > 0 && s.order.unheard(); more-- {
		ids = append(ids, s.choose(s.order.fetches.first()))
	}
	return ids
}

func (s *Lanes[T]) choose(l *lane[T]) int64 {
	id := s.ready.choose(l)
	s.order.place(l)
	s.order.mayTry(l)
	return id
}

// Prefetched brings the tasks that were read, chosen or not, and ends what Choose began.
func (s *Lanes[T]) Prefetched(tasks []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.ready.chosen {
		l.fetching = 0
	}
	for _, t := range tasks {
		l := s.index.of(t.ticket().Lane)
		s.prefetched.add(l, t)
		s.order.place(l)
		s.ready.filling.remove(t.ticket().Rank.ID)
	}
	for _, l := range s.ready.chosen {
		if l.trying() && len(l.prefetched) == 0 {
			s.order.tries(l.gate, nil)
		}
		s.order.place(l)
	}
	clear(s.ready.chosen)
	s.ready.chosen = s.ready.chosen[:0]
}

// Stocked tells whether more than n tasks are prefetched, and none of them waits for a ready one.
func (s *Lanes[T]) Stocked(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.order.fetches.first()
	return s.prefetched.n > n && (first == nil || !first.outranked())
}

// Unread makes tasks ready again that were read too long ago and have not started, or all of them.
func (s *Lanes[T]) Unread(all bool) (old []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old = s.prefetched.age(all)
	for _, t := range old {
		l := s.index.of(t.ticket().Lane)
		s.ready.add(l, t.ticket().Rank)
		s.order.place(l)
	}
	return old
}

// Drop takes out a task that is prefetched; false when it has started or is not known.
func (s *Lanes[T]) Drop(t T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.of(t.ticket().Lane)
	i := slices.IndexFunc(l.prefetched, func(other T) bool { return other.ticket() == t.ticket() })
	if i >= 0 {
		s.prefetched.remove(l, i)
		s.order.place(l)
	}
	return i >= 0
}

// Ticket is what lanes know of one task. A task embeds it. The exported fields are set before the
// task is handed to Prefetched, and do not change after that.
type Ticket struct {
	Lane    Key
	Rank    Rank
	Plan    time.Time // by the server's clock
	Expires time.Time // from then on it must not start, by the server's clock; zero: it always may
	Read    time.Time // by our clock: its row had been read by then
	Drift   bool      // a pause is counted from the end of the run before, not from its plan
	Suspect bool      // the server has crashed while it ran: nothing else starts while it is young

	passed  bool // the slot of the lane belongs to the next task of the session
	left    bool // the place in run belongs to the next task of the session
	tries   bool // it tries the gate of its remote, and has no place in run
	counted bool // in the rates of its group, until it is known when it began
}

// These make whatever embeds a Ticket a Holder.
func (t *Ticket) ticket() *Ticket { return t }
func (t *Ticket) rank() Rank      { return t.Rank }
func (t *Ticket) moved(int)       {}

// Holder is what lanes hand out: a pointer to a type that embeds Ticket.
type Holder interface {
	ranked
	ticket() *Ticket
}

// Rank is a task's place in its lane: larger max first, then higher priority, then lower id.
type Rank struct {
	ID       int64
	Max      int32 // below 0: one at a time, with a pause of so many milliseconds
	Priority int32
}

func (a Rank) rank() Rank { return a }
func (a Rank) moved(int)  {}

func (a Rank) before(b Rank) bool {
	if a.Max != b.Max {
		return a.Max > b.Max
	}
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	return a.ID < b.ID
}

// ranked is what has a place in a heap: a rank itself, a task, or a lane. It is told which place.
type ranked interface {
	rank() Rank
	moved(i int) // -1: it is taken out
}

// Key tells lanes apart: by the group's and the remote's own text, or, as there may be many lanes,
// by what stands for a long one and for no other.
type Key struct {
	group  string
	remote string // "" is the target's own database
}

// nameMost is the longest name that a lane keeps, in bytes. Of a longer one it keeps so much after
// the hash: rows of the table of groups may name its beginning.
const (
	nameMost = 100
	hashSize = sha256.Size
)

// KeyOf is the key of the lane of a group and a remote. Any goroutine may call it.
func KeyOf(group, remote string) Key { return Key{Brief(group), Brief(remote)} }

// Brief is a name of at most 100 bytes, or what stands for a longer one and for no other. What the
// server sends for one that is longer still, with code 1 in front, stays. Any goroutine may call it.
func Brief(name string) string {
	if len(name) <= nameMost || strings.HasPrefix(name, "\x01") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x00" + string(sum[:]) + name[:nameMost] // code 0, which no name of the server's has
}

// Head is what Brief has kept of the beginning of a name. Any goroutine may call it.
func Head(key string) string {
	switch {
	case strings.HasPrefix(key, "\x00"):
		return key[min(len(key), 1+hashSize):]
	case strings.HasPrefix(key, "\x01"):
		return key[min(len(key), 1+2*hashSize):] // which the server writes in hexadecimal digits
	}
	return key
}
