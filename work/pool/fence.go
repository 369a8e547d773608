package pool

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

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
	turn sync.Mutex // held while the connection is opened or used
	gone bool       // another one takes its place; guarded by turn

	mu      sync.Mutex
	witness *exec.Witness // nil: it is not open; changed under turn
	next    *commit       // not sent yet; nil: no run waits
	used    time.Time     // guarded by the mu of Fences
}

// commit is a commit for which runs wait. Runs that come while one is under way share the next.
type commit struct {
	done    chan struct{} // closed when the rest is known
	witness *exec.Witness // that has made it
	err     error
}

// fenceMost limits a commit of a fence: a synchronous standby of the remote may be away.
const fenceMost = 30 * time.Second

// fencedBy identifies a fence.
type fencedBy struct {
	remote string
	role   Role
}

// of returns the fence of a remote. There are never more than sessions: somebody may name very many
// remotes.
func (p *Fences) of(n Need) *fence {
	most := max(p.pool.Count(), 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := fencedBy{n.Remote, n.Role}
	f := p.all[key]
	if f == nil {
		p.spare(most - 1)
		f = &fence{}
		p.all[key] = f
	}
	f.used = time.Now()
	return f
}

// spare closes those fences that were used least recently, until there are no more than most. The
// caller holds mu.
func (p *Fences) spare(most int) {
	oldest := slices.SortedFunc(maps.Keys(p.all), func(a, b fencedBy) int { return p.all[a].used.Compare(p.all[b].used) })
	for _, key := range oldest[:max(len(oldest)-most, 0)] {
		f := p.all[key]
		if !f.turn.TryLock() { // it is in use
			continue
		}
		delete(p.all, key)
		f.gone = true
		p.pool.Group.Go(func() {
			defer f.turn.Unlock()
			f.close()
		})
	}
}

// errPlace means that the fence has reached another server than the session.
var errPlace = errors.New("two connections to the remote have reached two servers")

// errGone means that another fence has taken the place of this one.
var errGone = errors.New("the fence was closed")

// errCrashed means that the session with the transaction is gone.
var errCrashed = errors.New("the remote has ended the session")

// Exact tells whether the next run on a session of a remote can happen exactly once. It opens the
// fence if that is not open. The error says that there is no connection now.
func (p *Fences) Exact(ctx context.Context, s *Session) (bool, error) {
	if s.standby { // it may have been promoted since
		if err := s.locate(ctx); err != nil {
			return false, err
		}
	}
	if s.Place == (exec.Place{}) {
		return false, nil
	}
	f := p.of(s.Need)
	if s.fence = f.at(s.Place); s.fence != nil {
		return true, nil
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.gone {
		return p.Exact(ctx, s)
	}
	if s.fence = f.at(s.Place); s.fence != nil {
		return true, nil
	}
	err := p.open(ctx, f, s)
	if errors.Is(err, errPlace) || errors.Is(err, exec.ErrUnable) {
		return false, nil
	}
	s.fence = f.at(s.Place)
	return err == nil, err
}

// Commit waits until the remote has a later transaction than xact, that of the session, on its disk.
func (p *Fences) Commit(ctx context.Context, s *Session, xact int64) error {
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
	switch {
	case errors.Is(c.err, errGone):
		return p.Commit(ctx, s, xact)
	case c.err != nil:
		return c.err
	case c.witness.Place != s.Place:
		return errPlace
	case c.witness != s.fence: // the server may have crashed meanwhile: then xact may be another transaction by now
		return f.holds(ctx, c.witness, s, xact)
	}
	return nil
}

// commit makes the commit c.
func (p *Fences) commit(ctx context.Context, f *fence, c *commit, s *Session) {
	f.turn.Lock()
	defer f.turn.Unlock()
	defer close(c.done)
	f.mu.Lock()
	f.next = nil
	f.mu.Unlock()
	if c.err = errGone; f.gone {
		return
	}
	if w := f.at(s.Place); w != nil {
		c.err = w.Fence(ctx, fenceMost)
	}
	if c.err != nil && !errors.Is(c.err, context.DeadlineExceeded) { // the server may have ended the idle connection
		c.err = p.open(ctx, f, s)
	}
	if c.err != nil {
		f.close()
	}
	c.witness = f.at(s.Place)
}

// holds returns an error unless the session still has its transaction.
func (f *fence) holds(ctx context.Context, w *exec.Witness, s *Session, xact int64) error {
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.at(s.Place) != w {
		return errCrashed // who has closed it may have met a crash
	}
	ctx, cancel := context.WithTimeout(ctx, fenceMost)
	defer cancel()
	there, err := w.Holds(ctx, s.PID, xact)
	if err == nil && !there {
		err = errCrashed
	}
	return err
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
	f.set(opened)
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
// the remote has its transactions now, as in xact_at; "": it is a standby. A synchronous standby of
// the remote has what is committed: the run's own COMMIT may not have waited for that.
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
	if witness.Place.At != "" && slices.Contains(all, exec.Committed) {
		err = witness.Fence(ctx, fenceMost)
	}
	return witness.Place.At, all, err
}

// at returns the open connection if it is at the place; else nil.
func (f *fence) at(place exec.Place) *exec.Witness {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.witness == nil || f.witness.Place != place {
		return nil
	}
	return f.witness
}

// set records the open connection; nil: there is none. The caller holds turn.
func (f *fence) set(w *exec.Witness) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.witness = w
}

// close closes the connection, if it is open. The caller holds turn.
func (f *fence) close() {
	if f.witness != nil {
		f.witness.Close()
		f.set(nil)
	}
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
			f.set(nil)
		}
		f.gone = true
		f.turn.Unlock()
		delete(p.all, key)
	}
	return old
}
