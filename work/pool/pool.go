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
	shortage

	mu    sync.Mutex
	waits map[string]hold.Backoff // by the place that takes no connections
	free  []*Session              // without work, the one that was used last at the end
	all   int                     // with those at work
	pids  map[int32]time.Time     // of all in the target's own database, and of what joined; their starts
}

// Config is how a pool opens sessions.
type Config struct {
	Target  *target.Target
	Control *control.Control // tells of the server
	Group   *routine.Group   // their goroutines belong to it
	// Enrol registers one of our backends. It is an error where we do not lead, by the control
	// session with that process id (0: any).
	Enrol func(ctx context.Context, b Backend, leader int32) error
	Log   zerolog.Logger
}

// Backend is a server process: process id and start name one for good.
type Backend struct {
	PID   int32
	Since time.Time
}

// New returns a pool without sessions.
func New(c Config) *Pool {
	return &Pool{
		Config:   c,
		waits:    map[string]hold.Backoff{},
		shortage: shortage{log: c.Log},
		pids:     map[int32]time.Time{},
	}
}

// most is how many sessions there may be: no more than there are where no more can be opened.
func (p *Pool) most(run int) int {
	if p.Short() {
		return 0
	}
	return run
}

// Take takes a session that lies ready and suits the task, if its server has not ended it meanwhile
// and no network forgotten it: that is no matter of the task's. nil: there is none.
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

// idleLong is how long a session has lain ready that is asked whether it is still there, which
// takes an exchange of messages.
const idleLong = time.Second

// pick takes the free session that suits the task best: one with its lane's state, else a common
// one that was used last. One that holds another lane's state is taken only where there are as many
// sessions as there may be. nil: none.
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

// Spare tells whether the task can have a session that holds no other lane's state: a free one, or
// a new one.
func (p *Pool) Spare(n Need, run int) bool {
	most := p.most(run)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all < most || slices.ContainsFunc(p.free, func(s *Session) bool { return !s.Bound && s.rank(n) > 0 })
}

// Empty tells whether no session lies ready.
func (p *Pool) Empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free) == 0
}

// room makes place for one more session: when there are as many as there may be, it takes out one
// without work, to be closed; one that is bound to a lane, or holds its state, only if there is no
// other.
func (p *Pool) room(most int) *Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	if p.all <= most || len(p.free) == 0 {
		return nil
	}
	i := max(slices.IndexFunc(p.free, func(s *Session) bool { return !s.Bound && !s.Holds }), 0)
	s := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.out(s)
	return s
}

// Gone counts a session out that has ended, or (nil) could not be opened.
func (p *Pool) Gone(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out(s)
}

func (p *Pool) out(s *Session) {
	p.all--
	if s != nil && s.Need.Remote == "" {
		p.left(Backend{int32(s.PID), s.Since})
	}
}

func (p *Pool) left(b Backend) {
	if p.pids[b.PID].Equal(b.Since) {
		delete(p.pids, b.PID)
	}
}

// Put gives back a session that has no work.
func (p *Pool) Put(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.idle = time.Now()
	p.free = append(p.free, s)
}

// Stale takes out the sessions that nobody needs any more, to be closed: idle for too long, or used
// up.
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
	return old
}

// Close ends sessions, all at once: it takes no longer than a second.
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

// Count is how many sessions there are, with those at work.
func (p *Pool) Count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}

// Leave takes out a backend that has ended, unless another one has its process id by now.
func (p *Pool) Leave(b Backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left(b)
}

// Backends are the backends of our sessions.
func (p *Pool) Backends() []Backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Backend, 0, len(p.pids))
	for pid, since := range p.pids {
		all = append(all, Backend{pid, since})
	}
	return all
}

// PIDs are those of our sessions in the target's own database.
func (p *Pool) PIDs() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.AppendSeq([]int32{}, maps.Keys(p.pids))
}

// Columns are backends as statements take them.
func Columns(backends []Backend) (pids []int32, starts []time.Time) {
	pids, starts = make([]int32, len(backends)), make([]time.Time, len(backends))
	for i, b := range backends {
		pids[i], starts[i] = b.PID, b.Since
	}
	return pids, starts
}
