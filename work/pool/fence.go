package pool

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// A run on a remote happens exactly once if the remote can tell later how its transaction has
// ended. So a second connection to the remote, the fence, commits to the disk there before the run
// commits: then no crash of the remote can give the id of the run's transaction to another one.

// Fences has the fences of a pool. Any goroutine may use it.
type Fences struct {
	pool *Pool
	mu   sync.Mutex
	all  map[fencedBy]*fence
}

// fence is that connection, for all sessions with the same remote and role.
type fence struct {
	turn    sync.Mutex    // held while the connection is opened, or commits
	witness *exec.Witness // nil: it is not open; guarded by turn

	mu    sync.Mutex
	place exec.Place // of the open connection; zero: it is not open
	next  *commit    // not sent yet; nil: no run waits
	used  time.Time  // guarded by the mu of Fences
}

// commit is a commit for which runs wait. Runs that come while one is under way share the next.
type commit struct {
	done  chan struct{} // closed when the rest is known
	place exec.Place
	err   error
}

// fenceMost limits a commit of a fence: a synchronous standby of the remote may be away.
const fenceMost = 30 * time.Second

// fencedBy identifies a fence.
type fencedBy struct {
	remote string
	role   Role
}

func (p *Fences) of(n Need) *fence {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := fencedBy{n.Remote, n.Role}
	f := p.all[key]
	if f == nil {
		f = &fence{}
		p.all[key] = f
	}
	f.used = time.Now()
	return f
}

// errPlace means that the fence has reached another server than the session.
var errPlace = errors.New("two connections to the remote have reached two servers")

// Exact tells whether runs on a session of a remote can happen exactly once. It opens the fence if
// that is not open. The error says that no server has answered.
func (p *Fences) Exact(ctx context.Context, s *Session) (bool, error) {
	if s.standby { // it may have been promoted since
		s.Place, _ = s.Locate(ctx)
		s.standby = s.Place == exec.Place{}
	}
	if s.Place == (exec.Place{}) {
		return false, nil
	}
	f := p.of(s.Need)
	if f.at() == s.Place {
		return true, nil
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.at() == s.Place {
		return true, nil
	}
	err := p.open(ctx, f, s)
	var answer *pgconn.PgError
	if errors.Is(err, errPlace) || errors.Is(err, exec.ErrPooled) || errors.As(err, &answer) || Final(err) {
		return false, nil // it would say the same again
	}
	return err == nil, err
}

// Commit waits until the remote has a later transaction than that of the session on its disk.
func (p *Fences) Commit(ctx context.Context, s *Session) error {
	f := p.of(s.Need)
	f.mu.Lock()
	c, first := f.next, f.next == nil
	if first {
		c = &commit{done: make(chan struct{})}
		f.next = c
	}
	f.mu.Unlock()
	if first {
		p.commit(ctx, f, c, s)
	}
	<-c.done
	if c.err == nil && c.place != s.Place {
		return errPlace
	}
	return c.err
}

// commit makes the commit c.
func (p *Fences) commit(ctx context.Context, f *fence, c *commit, s *Session) {
	f.turn.Lock()
	defer f.turn.Unlock()
	defer close(c.done)
	f.mu.Lock()
	f.next = nil
	f.mu.Unlock()
	c.err = errors.New("the connection was not open")
	if f.at() == s.Place {
		c.err = f.witness.Fence(ctx, fenceMost)
	}
	if c.err != nil && !errors.Is(c.err, context.DeadlineExceeded) { // the server may have ended the idle connection
		c.err = p.open(ctx, f, s)
	}
	if c.err != nil {
		f.close()
	}
	c.place = f.at()
}

// open opens the connection, checks that it has reached the server of the session, without a
// pooler, and makes a first commit. The caller holds turn.
func (p *Fences) open(ctx context.Context, f *fence, s *Session) error {
	f.close()
	ctx, cancel := context.WithTimeout(ctx, fenceMost)
	defer cancel()
	opened, err := p.reach(ctx, s.Need)
	if err != nil {
		return err
	}
	if err = errPlace; opened.Place == s.Place {
		err = opened.Fence(ctx, fenceMost)
	}
	if err != nil {
		opened.Close()
		return err
	}
	f.witness = opened
	f.mu.Lock()
	defer f.mu.Unlock()
	f.place = s.Place
	return nil
}

// reach opens a connection to the remote of a task.
func (p *Fences) reach(ctx context.Context, n Need) (*exec.Witness, error) {
	session, err := p.pool.elsewhere(ctx, n, p.pool.Target.ControlName())
	if err != nil {
		return nil, err
	}
	session.Within(p.pool.Group)
	witness, err := exec.NewWitness(ctx, session)
	if err != nil {
		session.Close()
	}
	return witness, err
}

// Ask asks a remote how transactions have ended, for a role ("": the target's own). place is where
// the remote has its transactions now, as in xact_at; "": it is a standby.
func (p *Fences) Ask(ctx context.Context, remote string, role Role, xacts []int64) (place string, all []exec.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, fenceMost)
	defer cancel()
	witness, err := p.reach(ctx, Need{Remote: remote, Wishes: Wishes{Role: role}})
	if err != nil {
		return "", nil, err
	}
	defer witness.Close()
	for _, xact := range xacts {
		status, err := witness.Ask(ctx, xact)
		if err != nil {
			return "", nil, err
		}
		all = append(all, status)
	}
	return witness.Place.At, all, nil
}

// at returns the place of the open connection.
func (f *fence) at() exec.Place {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.place
}

// close closes the connection, if it is open. The caller holds turn.
func (f *fence) close() {
	if f.witness == nil {
		return
	}
	f.witness.Close()
	f.closed()
}

// closed records that the connection is closed. The caller holds turn.
func (f *fence) closed() {
	f.witness = nil
	f.mu.Lock()
	defer f.mu.Unlock()
	f.place = exec.Place{}
}

// idle removes and returns the connections that were not used for so long.
func (p *Fences) idle(idle time.Duration) (old []*Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, f := range p.all {
		if time.Since(f.used) < idle || !f.turn.TryLock() {
			continue
		}
		if f.witness != nil {
			old = append(old, &Session{Session: f.witness.Session})
			f.closed()
		}
		f.turn.Unlock()
		delete(p.all, key)
	}
	return old
}
