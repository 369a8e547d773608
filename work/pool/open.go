package pool

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
)

// Open opens a session for a task.
func (p *Pool) Open(ctx context.Context, n Need, run int) (*Session, error) {
	if s := p.room(run); s != nil {
		s.Close()
	}
	session, err := p.Connect(ctx, n)
	if err != nil {
		p.Gone(nil)
		return nil, err
	}
	return &Session{Session: session, Need: n, born: time.Now()}, nil
}

// waitsMost is how many places are known.
const waitsMost = 1000

// Delay counts a try to open a session that failed, and says how long to wait with the next: for a
// remote or role longer each time.
func (p *Pool) Delay(n Need) time.Duration {
	place := lane.Brief(n.Place())
	if place == "" {
		return shortPause
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waits) >= waitsMost {
		clear(p.waits)
	}
	w := p.waits[place]
	if time.Until(w.After) <= w.Wait/2 { // else it is one of many that failed together
		w.Later(hold.Closed)
		p.waits[place] = w
	}
	return w.Wait
}

// ErrNotLeading is the error of a session that is not for our tasks any more.
var ErrNotLeading = errors.New("another controller leads")

// registered has the leader register a session before its first task, which the session must not
// get before. The leader must be the one who has read the task, and lead still: its answer is asked
// for when the session is ready. We may have been frozen meanwhile, and a new leader knows of no
// session that is opened now, and would run more in the lane than may.
func (p *Pool) registered(ctx context.Context, session *exec.Session, n Need) (*exec.Session, error) {
	b := Backend{int32(session.PID), session.Since}
	err := p.Register(ctx, b, n.Reader)
	if err == nil {
		return session, nil
	}
	session.Close()
	p.Leave(b)
	if n.Role.Name == "" && errors.As(err, new(*pgconn.PgError)) {
		p.shortage.fail(err, p.Count())
	}
	return nil, &NoSession{err}
}

// Register takes down one of our backends and waits until the leader with that process id, 0: any,
// has registered it. On an error the caller closes it, and then it leaves.
func (p *Pool) Register(ctx context.Context, b Backend, leader int32) error {
	p.mu.Lock()
	p.pids[b.PID] = b.Since // first: what is in the register and not ours is an earlier leader's
	p.mu.Unlock()
	return p.Enrol(ctx, b, leader)
}

// NoSession is the error of a session in the target's own database that could not be opened. It is
// no fault of the task's, which waits, whatever the error.
type NoSession struct{ Cause error }

func (e *NoSession) Error() string { return e.Cause.Error() }

// Unwrap is why it could not be opened.
func (e *NoSession) Unwrap() error { return e.Cause }

// Final tells an error of a connection that will not mend by itself from one of a server that
// cannot take it now.
func Final(err error) bool {
	var own *NoSession
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
	return strings.HasPrefix(answer.Code, "28") || answer.Code == "3D000" || answer.Code == "42501" ||
		answer.Code == "42704" || answer.Code == "22023"
}

// Where sessions can't be opened: how long until one more is tried, and how long after the last
// vain try it counts as over.
const (
	shortPause = time.Second
	shortOver  = 3 * time.Second
)

// shortage is that of sessions to the target's own database: too many connections, a password that
// has been changed. Tasks go on with those that there are, and wait for them; now and then one more
// is tried. Any goroutine may use it.
type shortage struct {
	log zerolog.Logger

	mu    sync.Mutex
	since time.Time // zero: there is none
	last  time.Time // of the vain tries
	next  time.Time // when to try again
}

// fail takes note that a session could not be opened, while so many were open.
func (s *shortage) fail(err error, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.since.IsZero() {
		s.since = now
		fault.Advised(s.log.Error(), err).Int("sessions", open).Msg("cannot open more sessions; tasks wait for the open ones")
	}
	s.last, s.next = now, now.Add(shortPause)
}

// Short tells whether sessions in the target's own database cannot be opened.
func (s *shortage) Short() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero()
}

// Admit tells whether a session may be opened now: while there is a shortage one from time to time.
func (s *shortage) Admit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Before(s.next) {
		return false
	}
	s.next = now.Add(shortPause)
	return true
}

// Look logs the end of a shortage: none was tried in vain for a while, as they could be opened
// again, or nobody needs one.
func (s *shortage) Look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() && time.Since(s.last) > shortOver {
		s.log.Info().Str("after", human.Duration(time.Since(s.since))).Msg("sessions available again")
		s.since = time.Time{}
	}
}
