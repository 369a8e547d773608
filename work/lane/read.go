package lane

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Add makes a due task ready, unless it is ready already. It keeps no reference to the bytes. An
// empty remote is the target's own database.
func (s *Lanes[T]) Add(group, remote []byte, r Rank) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.index.named(group, remote)
	// The lane's place depends on its first task alone.
	if s.ready.add(l, r) && l.ready[0].ID == r.ID {
		s.order.place(l)
	}
}

// Enter makes a task ready that has ended and waits again.
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

// Fill starts a new list of all due tasks, so that tasks whose priority, group or plan was changed
// find their place. Until Filled, Add adds to both lists. Fill also drops empty lanes.
func (s *Lanes[T]) Fill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.index.all {
		l.fresh = nil
		s.index.prune(l)
	}
	s.index.gates.tidy(s.order.now())
	s.index.groups.tidy(s.order.now())
	if s.ready.filling = nil; s.ready.n > 0 { // otherwise there is no list to replace
		s.ready.filling = idSet{}
	}
}

// Filled replaces the ready tasks by the new list. It leaves out tasks that were read since Fill:
// those that cannot be read again would block their lane until each has been tried.
func (s *Lanes[T]) Filled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready.filled(s.index.all) {
		for _, l := range s.index.all {
			s.order.place(l)
		}
	}
}

// Prefetchable tells whether Choose would find a task.
func (s *Lanes[T]) Prefetchable() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.order.resume()
	l, free := s.order.next(), s.Slots.most()+s.order.ahead > s.Slots.busy+s.prefetched.n
	return !s.Slots.IsClosed() && l != nil && (free || l.outranked() || s.order.unheard())
}

// Choose picks the ids of the tasks to read now, in order: tasks that may start, and some that will
// be needed before the next read ends. It picks at most that many, and one more of each lane that
// would otherwise wait for other lanes. The caller must call Prefetched next.
func (s *Lanes[T]) Choose(most int) []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.order.resume(); s.Slots.IsClosed() {
		return nil
	}
	var ids []int64
	size, used := s.Slots.most()+s.order.ahead, s.Slots.busy+s.prefetched.n
	spare, most := min(most, 2*size-used), min(most, size-used)
	// The prefetched tasks of an outranked lane wait for a ready one. So these lanes come first,
	// and each gets at least one task.
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

// Prefetched adds the tasks that were read, chosen or not, and ends the read that Choose began.
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

// Stocked tells whether more than n tasks are prefetched and none of them waits for a ready task.
func (s *Lanes[T]) Stocked(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.order.fetches.first()
	return s.prefetched.n > n && (first == nil || !first.outranked())
}

// Unread makes prefetched tasks ready again that were read too long ago (or all), and returns them.
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

// Drop removes a prefetched task; false: it has started or is not known.
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

// Ticket is the part of a task that lanes know; a task embeds it. The exported fields are set
// before Prefetched gets the task, and do not change afterwards.
type Ticket struct {
	Lane    Key
	Rank    Rank
	Plan    time.Time // by the server's clock
	Expires time.Time // after that it must not start, by the server's clock; zero: it may always start
	Read    time.Time // when its row had been read, by our clock
	Drift   bool      // its pause counts from the end of the previous run, not from its plan
	Suspect bool      // the server has crashed while it ran: see quarantine

	holds   holding // its slots
	counted bool    // the rates of its group count it as pending, until its start is known
}

// holding says which slots a task holds. Only hold changes it.
type holding int

const (
	noSlots   holding = iota // it waits, has ended, or has handed its slots on to the next task of its session
	laneSlot                 // of its lane: the next task of its session has its slot of run
	trySlot                  // of its lane: it tries the gate of its remote, which needs no slot of run
	bothSlots                // of run, and of its lane
)

// These methods make a Holder of each type that embeds Ticket.
func (t *Ticket) ticket() *Ticket { return t }
func (t *Ticket) rank() Rank      { return t.Rank }
func (t *Ticket) moved(int)       {}

// Holder is the type that lanes hand out: a pointer to a type that embeds Ticket.
type Holder interface {
	ranked
	ticket() *Ticket
}

// Rank orders the tasks of a lane: larger max first, then higher priority, then lower id.
type Rank struct {
	ID       int64
	Max      int32 // below 0: one task at a time, with a pause of that many milliseconds
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

// ranked is an element of a heap: a rank, a task or a lane. The heap tells it its place.
type ranked interface {
	rank() Rank
	moved(i int) // -1: it was removed
}

// Key identifies a lane by its group and its remote. As there may be many lanes, Brief shortens
// long names.
type Key struct {
	group  string
	remote string // "" is the target's own database
}

// nameMost is the longest name that a lane keeps, in bytes. Instead of a longer name it keeps a
// hash and the first nameMost bytes: rows of the table of groups may name the beginning.
const (
	nameMost = 100
	hashSize = sha256.Size
)

// KeyOf returns the key of the lane of a group and a remote. Any goroutine may call it.
func KeyOf(group, remote string) Key { return Key{Brief(group), Brief(remote)} }

// Brief returns a name of at most 100 bytes as it is, and a unique stand-in for a longer one. For a
// very long name the server sends a stand-in that begins with code 1: Brief returns that as it is.
// Any goroutine may call it.
func Brief(name string) string {
	if len(name) <= nameMost || strings.HasPrefix(name, "\x01") {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x00" + string(sum[:]) + name[:nameMost] // no name from the server has code 0
}

// Head returns the beginning of a name that Brief has kept. Any goroutine may call it.
func Head(key string) string {
	switch {
	case strings.HasPrefix(key, "\x00"):
		return key[min(len(key), 1+hashSize):]
	case strings.HasPrefix(key, "\x01"):
		return key[min(len(key), 1+2*hashSize):] // the server writes the hash in hexadecimal digits
	}
	return key
}
