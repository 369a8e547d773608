package work

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/routine"
)

// pool keeps the sessions of a target. Any goroutine may use it.
type pool struct {
	poolConfig
	patience patience
	shortage shortage

	mu    sync.Mutex
	free  []*seat             // without work, the one that was used last at the end
	all   int                 // with those at work
	pids  map[int32]time.Time // of all in the target's own database, and of others that joined; with their starts
	ended []backend           // that are to be taken out of the register
}

// poolConfig is how a pool opens sessions.
type poolConfig struct {
	group     *routine.Group                                                         // their goroutines belong to
	own       func(group string) (*pgconn.Config, error)                             // configures one in the target's own database
	elsewhere func(ctx context.Context, remote, group string) (*exec.Session, error) // opens one
	enrol     func(ctx context.Context, b backend) error                             // registers one of our backends; an error where we do not lead
	log       zerolog.Logger
	failed    func(error) *zerolog.Event // begins a line of the log about an error
}

// backend is a server process: process id and start name one for good.
type backend struct {
	pid   int32
	since time.Time
}

func newPool(c poolConfig) *pool {
	return &pool{
		poolConfig: c,
		patience:   patience{delay: map[string]time.Duration{}, since: map[string]time.Time{}},
		shortage:   shortage{log: c.log, failed: c.failed},
		pids:       map[int32]time.Time{},
	}
}

// short tells whether sessions in the target's own database cannot be opened.
func (p *pool) short() bool { return p.shortage.lasts() }

// admit tells whether one may be opened now.
func (p *pool) admit() bool { return p.shortage.admit() }

// look logs the end of a shortage.
func (p *pool) look() { p.shortage.look() }

// delay counts a vain try to open a session, and says how long to wait with the next.
func (p *pool) delay(remote string) time.Duration { return p.patience.fail(remote) }

// most is how many sessions there may be: no more than there are where no more can be opened.
func (p *pool) most(run int) int {
	if p.short() {
		return 0
	}
	return run
}

// take takes a session that lies ready and suits the task, if its server has not ended it meanwhile
// and no network forgotten it: that is no matter of the task's. nil: there is none.
func (p *pool) take(ctx context.Context, n need, run int) *seat {
	for {
		s := p.pick(n, p.most(run))
		if s == nil {
			return nil
		}
		looks := s.session.Present
		if time.Since(s.idle) >= idleLong {
			looks = func() error { return s.session.Answers(ctx) }
		}
		if looks() == nil {
			return s
		}
		s.session.Abandon()
		s.session.Close()
		p.gone(s)
	}
}

// idleLong is how long a session has lain ready that is asked whether it is still there, which takes
// an exchange of messages.
const idleLong = time.Second

// open opens a session for a task.
func (p *pool) open(ctx context.Context, n need, run int) (*seat, error) {
	closeSeats([]*seat{p.room(run)})
	session, err := p.connect(ctx, n)
	if err != nil {
		p.gone(nil)
		return nil, err
	}
	s := &seat{session: session, remote: n.remote, epoch: n.epoch, born: time.Now()}
	p.opened(s)
	return s, nil
}

// opened takes down the backend of a new session. A remote's is none of ours: it may name any.
func (p *pool) opened(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.remote == "" {
		p.pids[int32(s.session.PID)] = s.session.Since
	}
}

// joins takes down a backend of ours.
func (p *pool) joins(b backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids[b.pid] = b.since
}

// leaves takes out a backend that has ended, unless another one has its process id by now.
func (p *pool) leaves(b backend) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left(b)
}

// endedMost is how many backends are remembered that are to be taken out of the register. Beyond
// that a look at the whole register finds them.
const endedMost = 10_000

func (p *pool) left(b backend) {
	if p.pids[b.pid].Equal(b.since) {
		delete(p.pids, b.pid)
	}
	if len(p.ended) < endedMost {
		p.ended = append(p.ended, b)
	}
}

// takeEnded are the backends that have ended since the last call.
func (p *pool) takeEnded() []backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	ended := p.ended
	p.ended = nil
	return ended
}

// ours are the backends of our sessions.
func (p *pool) ours() []backend {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]backend, 0, len(p.pids))
	for pid, since := range p.pids {
		all = append(all, backend{pid, since})
	}
	return all
}

// backends are those of our sessions in the target's own database.
func (p *pool) backends() []int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	pids := make([]int32, 0, len(p.pids))
	for pid := range p.pids {
		pids = append(pids, pid)
	}
	return pids
}

// pick takes the free seat that suits the task best: one with its lane's state, else a common one that was used last. One that holds another lane's state is
// taken only where there are as many sessions as there may be. nil: none.
func (p *pool) pick(n need, most int) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	best, rank := -1, 0
	for i, s := range p.free {
		if r := s.rank(n); r >= rank && s.fits(n) && (r > 0 || p.all >= most) {
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

// fits tells whether there is a free seat that suits the task.
func (p *pool) fits(n need) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.free, func(s *seat) bool { return s.fits(n) })
}

// spare tells whether the task can have a session that holds no other lane's state: a free one, or a new one.
func (p *pool) spare(n need, run int) bool {
	most := p.most(run)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all < most || slices.ContainsFunc(p.free, func(s *seat) bool { return !s.bound && s.rank(n) > 0 })
}

// empty tells whether no session lies ready.
func (p *pool) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free) == 0
}

// room makes place for one more session: when there are as many as there may be, one without work is taken out, to be closed; one that is
// bound to a lane, or holds its state, only if there is no other.
func (p *pool) room(most int) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all++
	if p.all <= most || len(p.free) == 0 {
		return nil
	}
	i := max(slices.IndexFunc(p.free, func(s *seat) bool { return !s.bound && !s.holds }), 0)
	s := p.free[i]
	p.free = slices.Delete(p.free, i, i+1)
	p.out(s)
	return s
}

// gone counts a session out that has ended, or (nil) could not be opened.
func (p *pool) gone(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out(s)
}

func (p *pool) out(s *seat) {
	p.all--
	if s != nil && s.remote == "" {
		p.left(backend{int32(s.session.PID), s.session.Since})
	}
}

func (p *pool) put(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.idle = time.Now()
	p.free = append(p.free, s)
}

// stale takes out the seats that nobody needs any more, to be closed: idle for too long, or used up.
func (p *pool) stale(idle time.Duration) (old []*seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = slices.DeleteFunc(p.free, func(s *seat) bool {
		out := time.Since(s.idle) >= idle || s.spent()
		if out {
			old = append(old, s)
			p.out(s)
		}
		return out
	})
	return old
}

// close ends sessions; it waits for none of them longer than a second.
func closeSeats(old []*seat) {
	for _, s := range old {
		if s != nil {
			s.session.Close()
		}
	}
}
