package work

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/work/lane"
)

// sessionLimit bounds all that a session does besides the task's own SQL, deferred triggers of the
// user's among it.
const sessionLimit = 5 * time.Minute

// connect opens a session for a task, where the task wants it.
func (p *pool) connect(ctx context.Context, n need) (session *exec.Session, err error) {
	limit, cancel := context.WithTimeout(ctx, remote.ConnectLimit)
	defer cancel()
	if n.remote != "" {
		session, err = p.elsewhere(limit, n.remote, n.group)
	} else if session, err = p.connectOwn(limit, n); err == nil {
		session, err = p.registered(ctx, session)
	}
	if err != nil {
		return nil, err
	}
	p.patience.succeed(n.remote)
	session.Within(p.group)
	return session, nil
}

// connectOwn opens a session in the target's own database.
func (p *pool) connectOwn(ctx context.Context, n need) (*exec.Session, error) {
	cfg, err := p.own(n.group)
	if err != nil {
		return nil, err
	}
	session, err := exec.Connect(ctx, cfg, sessionLimit, true)
	err = remote.Reason(err)
	switch {
	case err == nil:
		return p.trusted(ctx, session, n)
	case p.group.Context().Err() == nil:
		p.shortage.fail(err, len(p.backends()))
		err = &noSession{err}
	}
	return session, err
}

// trusted closes the session where the task is not ours any more, as the control session that has read it has gone. We may have been frozen meanwhile, and not know of it yet: a new leader
// knows of no session that is opened now, and would run more in the lane than may.
func (p *pool) trusted(ctx context.Context, session *exec.Session, n need) (*exec.Session, error) {
	leads, err := session.Sees(ctx, n.leader)
	if err == nil && leads {
		return session, nil
	}
	session.Close()
	return nil, &noSession{errors.Join(err, errNotLeading)}
}

var errNotLeading = errors.New("another controller leads")

// registered has the leader register a session before its first task, which the session must not
// get before: the leader's answer shows also that it leads still, as it was asked for when the
// session was ready.
func (p *pool) registered(ctx context.Context, session *exec.Session) (*exec.Session, error) {
	b := backend{int32(session.PID), session.Since}
	if err := p.register(ctx, b); err != nil {
		session.Close()
		p.leaves(b)
		if errors.As(err, new(*pgconn.PgError)) {
			p.shortage.fail(err, len(p.backends()))
		}
		return nil, &noSession{err}
	}
	p.shortage.succeed()
	return session, nil
}

// register takes down one of our backends and waits until the leader has registered it. On an error
// the caller closes it, and then it leaves.
func (p *pool) register(ctx context.Context, b backend) error {
	p.joins(b) // first, as what is in the register and not ours is an earlier leader's
	return p.enrol(ctx, b)
}

// noSession is the error of a session in the target's own database that could not be opened. It is no fault of the task's, which waits,
// whatever the error.
type noSession struct{ error }

func (e *noSession) Unwrap() error { return e.error }

// final tells an error of a connection that will not mend by itself from one of a server that cannot take it now.
func final(err error) bool {
	var own *noSession
	if errors.As(err, &own) {
		return false
	}
	var refused *remote.Refused
	var panicked *routine.Panic
	if errors.As(err, &refused) || errors.As(err, &panicked) {
		return true
	}
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return false
	}
	return strings.HasPrefix(answer.Code, "28") || answer.Code == "3D000" || answer.Code == "42501" || answer.Code == "42704" || answer.Code == "22023"
}

// unanswered tells the error of a server that has given no answer.
func unanswered(err error) bool {
	var refused *remote.Refused
	var answer *pgconn.PgError
	var panicked *routine.Panic
	return !errors.As(err, &refused) && !errors.As(err, &answer) && !errors.As(err, &panicked)
}

// patience is how long to wait with tasks whose server does not take connections: for each remote 1 s, doubling, at most a minute. The
// target's own database ("") is not waited for so long, as its loop sees to it that only few tasks try.
type patience struct {
	mu    sync.Mutex
	delay map[string]time.Duration
	since map[string]time.Time
}

func (p *patience) fail(remote string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	remote = lane.Brief(remote)
	if len(p.since) >= patienceMost {
		maps.DeleteFunc(p.since, func(_ string, since time.Time) bool { return time.Since(since) > 2*patienceLong })
		maps.DeleteFunc(p.delay, func(remote string, _ time.Duration) bool { return p.since[remote].IsZero() })
	}
	d := p.delay[remote]
	if time.Since(p.since[remote]) < d/2 { // one of many that failed together
		return d
	}
	most := patienceLong
	if remote == "" {
		most = shortPause
	}
	d = min(max(2*d, time.Second), most)
	p.delay[remote], p.since[remote] = d, time.Now()
	return d
}

// patienceMost is how many remotes are known that old ones among them are looked for.
const (
	patienceLong = time.Minute
	patienceMost = 1000
)

func (p *patience) succeed(remote string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	remote = lane.Brief(remote)
	delete(p.delay, remote)
	delete(p.since, remote)
}
