package pool

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/work/control"
	"pgtaskd/work/lane"
	"pgtaskd/work/target"
)

// Need is what a task asks of its session.
type Need struct {
	Wishes
	Remote, Group string
	Reader        int32 // pid of the control session that has read the task
	Lane          lane.Key
	Max           int32
	Once          bool // it must not run twice: a session that lay ready is asked whether it is still there
}

// Wishes are what the row of a task asks of its session.
type Wishes struct {
	Role  Role
	Epoch int64 // of the settings of databases and roles
	Count int32
	Live  time.Duration
}

// Role is that under which a task runs. The zero value is the target's own.
type Role struct {
	Name      string
	Number    int64 // its oid: another role may have its name later
	Superuser bool
}

// Place is what the task asks for that may not be had for a while: a remote, or another role than
// the target's. "": neither.
func (n Need) Place() string {
	if n.Remote == "" && n.Role.Name != "" {
		return "\x00" + n.Role.Name // no remote has such a name
	}
	return n.Remote
}

// Session is a session with what has to be known in order to give it a task. It belongs to one
// runner, or lies in the pool.
type Session struct {
	*exec.Session
	Need  Need // of the task that it was opened for, or that it is bound to
	born  time.Time
	idle  time.Time // since when it has no work
	Tasks int       // that have run on it
	Bound bool      // its first task has it for its lane: for count tasks, or until it is live old, of at least its max

	// Of a remote's server: how far the target's clock is ahead of it, roughly, and how long it takes
	// to answer.
	Ahead, Lag time.Duration

	Shielded bool // by the row of its last task, which was marked: see (*run.runner).ready

	Saved lane.Key // of the lane whose state it holds since the last task
	Holds bool     // it holds state
}

// Compare takes a reading of the clock of the session's server that was asked for between two
// moments of the target's. The difference changes by no more than it must be wrong.
func (s *Session) Compare(reading, asked, answered time.Time) {
	s.Lag = min(answered.Sub(asked), answerMost)
	s.Ahead = min(max(s.Ahead, asked.Sub(reading)), answered.Sub(reading))
}

// answerMost is what is taken for the time of an answer at most, so that tasks do not wait for
// one that lasts because a network has stalled before.
const answerMost = time.Second

// Bind gives the session to the lane of its first task, if that asks for it.
func (s *Session) Bind(n Need) {
	if s.Tasks == 0 && (n.Count > 0 || n.Live > 0) {
		s.Bound, s.Need = true, n
	}
}

// Fits tells whether the task may run here.
func (s *Session) Fits(n Need) bool {
	switch {
	case s.Need.Remote != n.Remote || s.Need.Role != n.Role || s.Need.Epoch != n.Epoch:
		return false
	case s.Bound:
		return s.Need.Lane == n.Lane && n.Max >= s.Need.Max && !s.Spent()
	case n.Count > 0 || n.Live > 0:
		return s.Tasks == 0
	}
	return true
}

// Spent tells whether the session has served as its first task asked, or cannot serve any more.
func (s *Session) Spent() bool {
	count, live := s.Need.Count, s.Need.Live
	return s.Bound && (count > 0 && s.Tasks >= int(count) || live > 0 && time.Since(s.born) >= live)
}

// Keeps tells whether the state of the session is that of a lane.
func (s *Session) Keeps(lane lane.Key) bool { return s.Holds && s.Saved == lane }

// rank tells how well the session suits a task that it fits: 3 it is bound to the lane, 2 it holds
// the lane's state, 1 it holds none, 0 it holds another lane's.
func (s *Session) rank(n Need) int {
	switch {
	case s.Bound:
		return 3
	case !s.Holds:
		return 1
	case s.Saved == n.Lane:
		return 2
	}
	return 0
}

// SessionLimit bounds all that a session does besides the task's own SQL, deferred triggers of the
// user's among it.
const SessionLimit = 5 * time.Minute

// Connect opens a session for a task, where the task wants it.
func (p *Pool) Connect(ctx context.Context, n Need) (session *exec.Session, err error) {
	limit, cancel := context.WithTimeout(ctx, remote.ConnectLimit)
	defer cancel()
	if n.Remote != "" {
		session, err = p.elsewhere(limit, n)
	} else if session, err = p.connectOwn(limit, n); err == nil {
		session, err = p.registered(ctx, session, n)
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	delete(p.waits, lane.Brief(n.Place()))
	p.mu.Unlock()
	session.Within(p.Group)
	return session, nil
}

// connectOwn opens a session in the target's own database. An error of one as another role than the
// target's is no matter of the others.
func (p *Pool) connectOwn(ctx context.Context, n Need) (*exec.Session, error) {
	cfg, err := configure(ctx, p.Target, n.Role.Name, n.Group, p.Control.Facts().Version)
	if err != nil {
		return nil, err
	}
	own := n.Role.Name == ""
	session, err := exec.Connect(ctx, cfg, SessionLimit, true, own)
	switch err = remote.Reason(err); {
	case err == nil && !own && (session.User != n.Role.Name || session.Superuser && !n.Role.Superuser):
		session.Close()
		return nil, &remote.Refused{Message: "the session has other rights than those of the task's role", SQLState: "42501"}
	case err == nil:
		return session, nil
	case own && !errors.Is(ctx.Err(), context.Canceled): // else nobody wants it any more
		p.shortage.fail(err, p.Count())
		err = &NoSession{err}
	}
	return nil, err
}

// elsewhere opens a session elsewhere. The rules ask for the role of the task: what a string
// leaves out comes from the target's own connection, but not who that is. A remote of the
// configuration is everybody's.
func (p *Pool) elsewhere(ctx context.Context, n Need) (*exec.Session, error) {
	c := p.Control.Facts()
	rules := remote.Rules{Base: c.Base, Superuser: c.Superuser, Named: p.Target.Remotes}
	if _, named := p.Target.Remotes[n.Remote]; n.Role.Name != "" && !named {
		rules.Base, rules.Superuser = c.Base.As(n.Role.Name, ""), n.Role.Superuser
	}
	destination, err := rules.Resolve(n.Remote)
	if err != nil {
		return nil, err
	}
	return destination.Connect(ctx, sessionName(p.Target, n.Group), SessionLimit)
}

// configure configures a session of a role ("": the target's own) for tasks of a group. version
// is the server's.
func configure(ctx context.Context, t *target.Target, role, group string, version int) (*pgconn.Config, error) {
	settings, err := login(ctx, t, role)
	if err != nil {
		return nil, err
	}
	cfg, err := remote.Own(settings)
	if err != nil {
		return nil, err
	}
	for _, setting := range initial(t, group) {
		if target.Printable(setting[1]) == setting[1] { // the server takes these as they come, in no encoding
			cfg.RuntimeParams[setting[0]] = setting[1]
		}
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	// A session is idle only between tasks, or between a task and its end: that is our business,
	// and has limits of its own.
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = control.Milliseconds(SessionLimit)
	if version >= 140000 {
		cfg.RuntimeParams["idle_session_timeout"] = "0"
		cfg.RuntimeParams["client_connection_check_interval"] = "1s" // a controller that is gone is noticed while a statement runs
	}
	return cfg, nil
}

// Try is an error if no session of a role can be opened for tasks.
func Try(ctx context.Context, t *target.Target, role string, version int) error {
	ctx, cancel := context.WithTimeout(ctx, control.ConnectLimit)
	defer cancel()
	cfg, err := configure(ctx, t, role, "", version)
	if err != nil {
		return err
	}
	session, err := exec.Connect(ctx, cfg, SessionLimit, true, true)
	if err != nil {
		return remote.Reason(err)
	}
	session.Close()
	return nil
}

// login are the settings by which a role logs in; "": the target's own.
func login(ctx context.Context, t *target.Target, role string) (remote.Settings, error) {
	if role == "" {
		return t.Connect, nil
	}
	password, err := t.Roles[role].Password(ctx)
	return t.Connect.As(role, password), err
}

// initial are the settings that a session has from its start. They go into a packet that the server
// takes up to 10,000 bytes of.
func initial(t *target.Target, group string) [][2]string {
	shown := OfGroup(t, group)
	if len(group) >= 1000 {
		shown = shown[:1] // not its name
	}
	return append(shown, OfTask(t, "", "", 1)...)
}

// SessionPrefix begins the application_name of every session of the target in its own database, and
// maybe of one with a similar name.
func SessionPrefix(t *target.Target) string { return target.ApplicationPrefix(sessionsOf(t)) }

func sessionName(t *target.Target, group string) string {
	return target.ApplicationName(sessionsOf(t) + group)
}

func sessionsOf(t *target.Target) string { return "pg_task " + t.Schema + " " + t.Table + " " }

// OfGroup are the settings that a session shows of a task's group.
func OfGroup(t *target.Target, group string) [][2]string {
	return [][2]string{{"application_name", sessionName(t, group)}, {"pg_task.group", group}}
}

// OfTask are those that it shows of the task.
func OfTask(t *target.Target, data, parent string, attempt int) [][2]string {
	return [][2]string{
		{"pg_task.schema", t.Schema},
		{"pg_task.table", t.Table},
		{"pg_task.data", data},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(attempt)},
	}
}
