package pool

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// Pool keeps the sessions of a target. Any goroutine may use it.
type Pool struct {
	Config
	Fences *Fences
	shortage

	mu    sync.Mutex
	waits map[string]hold.Backoff // by Need.Place
	free  []*Session              // without work; the last one was used last
	all   int                     // number of sessions: free, at work, and being opened
	fresh int                     // those being opened
	pids  map[int32]time.Time     // all registered backends in the target's own database, and their starts
}

// Config is how a pool opens sessions.
type Config struct {
	Target  *target.Target
	Control *control.Control // has the facts about the server
	Group   *routine.Group   // runs the goroutines of sessions
	// Enrol registers one of our backends. It fails unless we lead with the control session that
	// has the process id leader (0: any).
	Enrol func(ctx context.Context, b Backend, leader int32) error
	Log   zerolog.Logger
}

// Backend identifies a server process for good, by its process id and its start.
type Backend struct {
	PID   int32
	Since time.Time
}

// New returns a pool without sessions.
func New(c Config) *Pool {
	p := &Pool{
		Config:   c,
		waits:    map[string]hold.Backoff{},
		shortage: shortage{log: c.Log},
		pids:     map[int32]time.Time{},
	}
	p.Fences = &Fences{pool: p, all: map[fencedBy]*fence{}}
	return p
}

// most is how many sessions there may be. In a shortage it is 0, as no more can be opened.
func (p *Pool) most(run int) int {
	if p.Short() {
		return 0
	}
	return run
}

// Take takes a free session that suits the task, or returns nil. Take first drops sessions that the
// server has ended or the network has lost meanwhile, so that the task does not notice.
func (p *Pool) Take(ctx context.Context, n Need, run int) *Session {
	for {
		s := p.pick(n, p.most(run))
		if s == nil {
			return nil
		}
		looks := s.Present
		if n.Once || time.Since(s.idle) >= idleLong {
			looks = func() error { return s.Answers(ctx) }
		}
		if looks() == nil {
			return s
		}
		s.Abandon()
		s.Close()
		p.Gone(s)
	}
}

// idleLong: Take asks the server of a session that was idle for so long whether it is still there.
// That takes an exchange of messages.
const idleLong = time.Second

// pick takes the free session that suits the task best, or returns nil: one with the lane's state,
// otherwise the common one that was used last. It takes one with another lane's state only if no
// more sessions may be opened.
func (p *Pool) pick(n Need, most int) *Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, rank := -1, 0
	for i, s := range p.free {
		if r := s.rank(n); r >= rank && s.Fits(n) && (r > 0 || p.all >= most) {
			best, rank = i, r
		}
	}
	if best < 0 {
		return nil
	}
	s := p.free[best]
	p.free = slices.Delete(p.free, best, best+1)
	return s
}

// Fits tells whether there is a free session that suits the task.
func (p *Pool) Fits(n Need) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.free, func(s *Session) bool { return s.Fits(n) })
}

// Spare tells whether the task can have a session without another lane's state, free or new.
func (p *Pool) Spare(n Need, run int) bool {
	most := p.most(run)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all < most || slices.ContainsFunc(p.free, func(s *Session) bool { return !s.Bound && s.rank(n) > 0 })
}

// Empty tells whether no session is free.
func (p *Pool) Empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free) == 0
}

// room counts one more session. If there are too many then, it removes and returns a free session,
// to be closed. It takes one that is bound to a lane or holds its state only if there is no other.
func (p *Pool) room(most int) *Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	p.fresh++
	if p.all <= most || len(p.free) == 0 {
		return nil
	}
	i := max(slices.IndexFunc(p.free, func(s *Session) bool { return !s.Bound && !s.Holds }), 0)
	s := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.out(s)
	return s
}

// opened records that a session was opened, or (false) could not be.
func (p *Pool) opened(there bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fresh--
	if !there {
		p.all--
	}
}

// Gone removes a session that has ended from the count.
func (p *Pool) Gone(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out(s)
}

func (p *Pool) out(s *Session) {
	p.all--
	if s.Need.Remote == "" {
		p.left(Backend{int32(s.PID), s.Since})
	}
}

func (p *Pool) left(b Backend) {
	if p.pids[b.PID].Equal(b.Since) {
		delete(p.pids, b.PID)
	}
}

// Put gives back a session that has no more work.
func (p *Pool) Put(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.idle = time.Now()
	p.free = append(p.free, s)
}

// Stale removes and returns the free sessions that were idle for too long or are used up, to be
// closed.
func (p *Pool) Stale(idle time.Duration) (old []*Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = slices.DeleteFunc(p.free, func(s *Session) bool {
		out := time.Since(s.idle) >= idle || s.Spent()
		if out {
			old = append(old, s)
			p.out(s)
		}
		return out
	})
	return append(old, p.Fences.idle(idle)...)
}

// Close closes sessions in parallel. It takes at most a second.
func Close(old []*Session) {
	closing := routine.New(context.Background())
	for _, s := range old {
		closing.Go(s.Close)
	}
	closing.Wait()
	if p := closing.Panicked(); p != nil {
		panic(p)
	}
}

// Count returns how many sessions there are, free and at work.
func (p *Pool) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// Closed returns why no session can be opened in the target's own database, if there is none at
// all; else "".
func (p *Pool) Closed() string {
	why := p.shortage.why()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all > p.fresh {
		return ""
	}
	return why
}

// Leave removes a backend that has ended, unless another backend has its process id by now.
func (p *Pool) Leave(b Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left(b)
}

// Backends returns all registered backends.
func (p *Pool) Backends() []Backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Backend, 0, len(p.pids))
	for pid, since := range p.pids {
		all = append(all, Backend{pid, since})
	}
	return all
}

// PIDs returns the process ids of all registered backends.
func (p *Pool) PIDs() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.AppendSeq([]int32{}, maps.Keys(p.pids))
}

// Columns returns backends in the form that statements take.
func Columns(backends []Backend) (pids []int32, starts []time.Time) {
	pids, starts = make([]int32, len(backends)), make([]time.Time, len(backends))
	for i, b := range backends {
		pids[i], starts[i] = b.PID, b.Since
	}
	return pids, starts
}
