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

// Open opens a session for a task. If there are run sessions already, it first closes a free one.
func (p *Pool) Open(ctx context.Context, n Need, run int) (*Session, error) {
	if s := p.room(run); s != nil {
		s.Close()
	}
	session, err := p.Connect(ctx, n)
	s := &Session{Session: session, Need: n, born: time.Now()}
	if err == nil && n.Remote != "" {
		if err = s.locate(ctx); err != nil {
			session.Close()
		}
	}
	if p.opened(err == nil); err != nil {
		return nil, err
	}
	return s, nil
}

// locate finds the place of a session on a remote. Without one its runs are not exactly once.
func (s *Session) locate(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, remote.ConnectLimit)
	defer cancel()
	s.Place, err = s.Locate(ctx)
	s.standby = err == nil && s.Place == exec.Place{}
	if errors.Is(err, exec.ErrUnable) {
		return nil
	}
	return err
}

// waitsMost is how many places Delay remembers.
const waitsMost = 1000

// Delay counts a failed try to open a session, and returns how long to wait before the next: for a
// remote or a role, longer each time.
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
	if time.Until(w.After) <= w.Wait/2 { // otherwise it is one of many tries that failed together
		w.Later(hold.Closed)
		p.waits[place] = w
	}
	return w.Wait
}

// ErrNotLeading is the error of a session that must not run our tasks any more.
var ErrNotLeading = errors.New("another controller leads")

// registered waits until the leader has registered a session; its first task must not start before.
// The leader must be the one that has read the task, and must still lead. It is asked only once the
// session is open: if we were frozen meanwhile, a new leader would not know this session, and would
// run too many tasks in the lane.
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

// Register records one of our backends, and waits until the leader with that process id (0: any)
// has registered it. On an error the caller closes the session, and then calls Leave.
func (p *Pool) Register(ctx context.Context, b Backend, leader int32) error {
	p.mu.Lock()
	p.pids[b.PID] = b.Since // before Enrol: a registered backend that is not in pids is an earlier leader's
	p.mu.Unlock()
	return p.Enrol(ctx, b, leader)
}

// NoSession is the error of a session in the target's own database that could not be opened. The
// task is not at fault and waits, whatever the cause.
type NoSession struct{ Cause error }

func (e *NoSession) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *NoSession) Unwrap() error { return e.Cause }

// Final tells whether a connection error will not go away by itself. The error of a server that
// cannot take connections now is not final.
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

// shortPause is the time between two tries during a shortage. shortOver is how long after the last
// failed try the shortage counts as over.
const (
	shortPause = time.Second
	shortOver  = 3 * time.Second
)

// shortage is a time in which no more sessions can be opened in the target's own database: too many
// connections, a changed password. Tasks wait for the sessions that exist. Any goroutine may use it.
type shortage struct {
	log zerolog.Logger

	mu    sync.Mutex
	since time.Time // zero: there is no shortage
	cause error     // of the last failed try
	last  time.Time // the last failed try
	next  time.Time // when to try again
}

// fail records that a session could not be opened. open is the number of sessions then.
func (s *shortage) fail(err error, open int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.since.IsZero() {
		s.since = now
		fault.Advised(s.log.Error(), err).Int("sessions", open).Msg("cannot open more sessions; tasks wait for the open ones")
	}
	s.last, s.next, s.cause = now, now.Add(shortPause), err
}

// Short tells whether sessions in the target's own database cannot be opened.
func (s *shortage) Short() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero()
}

// why returns the cause of the shortage, with advice; "": there is none.
func (s *shortage) why() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch hint := fault.Hint(s.cause); {
	case s.since.IsZero():
		return ""
	case hint != "":
		return s.cause.Error() + " (" + hint + ")"
	}
	return s.cause.Error()
}

// Admit tells whether a session may be opened now: during a shortage, one every shortPause.
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

// Look ends and logs a shortage when no try has failed for a while: sessions can be opened again,
// or nobody needs one.
func (s *shortage) Look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.since.IsZero() && time.Since(s.last) > shortOver {
		s.log.Info().Str("after", human.Duration(time.Since(s.since))).Msg("sessions available again")
		s.since = time.Time{}
	}
}
