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

// open opens a session for a task, where the task wants it.
func (l *loop) open(ctx context.Context, t *task) (session *exec.Session, err error) {
	limit, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if t.row.Remote != "" {
		session, err = l.openRemote(limit, t)
	} else if session, err = l.openOwn(limit, t); err == nil {
		session, err = l.registered(ctx, session)
	}
	if err != nil {
		return nil, err
	}
	l.patience.succeed(t.row.Remote)
	session.Within(l.crew)
	return session, nil
}

// openOwn opens a session in the target's own database.
func (l *loop) openOwn(ctx context.Context, t *task) (*exec.Session, error) {
	cfg, err := remote.Own(l.target.Connect)
	if err != nil {
		return nil, err
	}
	for _, setting := range initial(l.target, t.row.Group) {
		if printable(setting[1]) == setting[1] { // the server takes these as they come, in no encoding
			cfg.RuntimeParams[setting[0]] = setting[1]
		}
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	// A session is idle only between tasks, or between a task and its end: that is our business, and has limits of its own.
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(sessionLimit)
	if l.facts.Load().version >= 140000 {
		cfg.RuntimeParams["idle_session_timeout"] = "0"
		cfg.RuntimeParams["client_connection_check_interval"] = "1s" // a controller that is gone is noticed while a statement runs
	}
	session, err := exec.Connect(ctx, cfg, sessionLimit, true)
	err = remote.Reason(err)
	switch {
	case err == nil:
		return l.trusted(ctx, session, t)
	case l.crew.Context().Err() == nil:
		l.shortage.fail(err, len(l.seats.backends()))
		err = &noSession{err}
	}
	return session, err
}

// trusted closes the session where the task is not ours any more, as the control session that has read it has gone. We may have been frozen meanwhile, and not know of it yet: a new leader
// knows of no session that is opened now, and would run more in the lane than may.
func (l *loop) trusted(ctx context.Context, session *exec.Session, t *task) (*exec.Session, error) {
	leads, err := session.Sees(ctx, t.leader)
	if err == nil && leads {
		return session, nil
	}
	session.Close()
	return nil, &noSession{errors.Join(err, errNotLeading)}
}

var errNotLeading = errors.New("another controller leads")

// openRemote opens a session elsewhere.
func (l *loop) openRemote(ctx context.Context, t *task) (*exec.Session, error) {
	c := l.facts.Load()
	rules := remote.Rules{Base: c.base, Superuser: c.superuser, Named: l.target.Remotes}
	destination, err := rules.Resolve(t.row.Remote)
	if err != nil {
		return nil, err
	}
	return destination.Connect(ctx, sessionName(l.target, t.row.Group), sessionLimit)
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

// innermost is the text of the error at the bottom, such as "connection refused": what wraps it may name users and hosts.
func innermost(err error) string {
	for {
		var next error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			next = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				next = all[0]
			}
		}
		if next == nil {
			return err.Error()
		}
		err = next
	}
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
