package pool

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/major"
	"pgtaskd/remote"
	"pgtaskd/work/control"
	"pgtaskd/work/lane"
	"pgtaskd/work/target"
)

// Need is what a task requires of its session.
type Need struct {
	Wishes
	Remote, Group string
	Reader        int32 // process id of the control session that has read the task
	Lane          lane.Key
	Max           int32
	Once          bool // it must not run twice: Take asks the server whether a free session is still there
}

// Wishes is what the row of a task requires of its session.
type Wishes struct {
	Role  Role
	Epoch int64 // of the settings of databases and roles
	Count int32
	Live  time.Duration
}

// Role is the role under which a task runs. The zero value is the target's own.
type Role struct {
	Name      string
	Number    int64 // its oid: another role may have its name later
	Superuser bool
}

// Place names the remote of a task, or its role if that is not the target's: connections there may
// fail for a while. "": neither.
func (n Need) Place() string {
	if n.Remote == "" && n.Role.Name != "" {
		return "\x00" + n.Role.Name // no remote has such a name
	}
	return n.Remote
}

// Session is a session with the facts that decide which task can use it. It belongs to one runner,
// or is free in the pool.
type Session struct {
	*exec.Session
	Need  Need // of the task that it was opened for, or that it is bound to
	born  time.Time
	idle  time.Time // since when it is free
	Tasks int       // how many have run on it
	// Bound: only the lane of its first task uses it, for count tasks or until it is live old, and
	// only tasks with at least the max of the first.
	Bound bool

	// For a remote: how far the target's clock is ahead of the remote server's, roughly, and how
	// long that server takes to answer.
	Ahead, Lag time.Duration

	// Place: for a remote, where the transactions of the session are; zero: the remote cannot be
	// asked about them later.
	Place   exec.Place
	standby bool          // it has no place yet: the remote was a standby
	fence   *exec.Witness // for a remote, the fence that was open before the current run began

	Shielded bool // its last task was marked, so a new leader spares it: see (*run.runner).ready

	Saved lane.Key // the lane of its last task
	Holds bool     // it holds the state of that lane
}

// Compare takes a reading of the remote server's clock. By the target's clock, the reading was
// taken between asked and answered. Compare changes Ahead only as far as the reading proves it
// wrong.
func (s *Session) Compare(reading, asked, answered time.Time) {
	s.Lag = min(answered.Sub(asked), answerMost)
	s.Ahead = min(max(s.Ahead, asked.Sub(reading)), answered.Sub(reading))
}

// answerMost is the largest Lag, so that tasks do not wait long because a network has stalled once.
const answerMost = time.Second

// Bind binds the session to the lane of its first task, if the task asks for that.
func (s *Session) Bind(n Need) {
	if s.Tasks == 0 && (n.Count > 0 || n.Live > 0) {
		s.Bound, s.Need = true, n
	}
}

// Fits tells whether the task may run on the session.
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

// Spent tells whether a bound session has run count tasks or is live old.
func (s *Session) Spent() bool {
	count, live := s.Need.Count, s.Need.Live
	return s.Bound && (count > 0 && s.Tasks >= int(count) || live > 0 && time.Since(s.born) >= live)
}

// Keeps tells whether the session holds the state of the lane.
func (s *Session) Keeps(lane lane.Key) bool { return s.Holds && s.Saved == lane }

// rank tells how well the session suits a task that fits: 3: it is bound to the lane, 2: it holds
// the lane's state, 1: it holds no state, 0: it holds another lane's state.
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

// SessionLimit limits everything that a session does besides the task's own SQL. That includes
// deferred triggers of the user.
const SessionLimit = 5 * time.Minute

// Connect opens a session for a task, in the target's own database or at its remote.
func (p *Pool) Connect(ctx context.Context, n Need) (session *exec.Session, err error) {
	limit, cancel := context.WithTimeout(ctx, remote.ConnectLimit)
	defer cancel()
	if n.Remote != "" {
		session, err = p.elsewhere(limit, n, sessionName(p.Target, n.Group))
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

// connectOwn opens a session in the target's own database. If the task has another role than the
// target's, an error concerns only this role and is no shortage.
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
	case own && !errors.Is(ctx.Err(), context.Canceled): // otherwise nobody wants the session any more
		p.shortage.fail(err, p.Count())
		err = &NoSession{err}
	}
	return nil, err
}

// elsewhere opens a session at a remote. The rules for remotes apply to the role of the task: parts
// that its string leaves out come from the target's own connection, except for user and password.
// All roles may use a remote of the configuration.
func (p *Pool) elsewhere(ctx context.Context, n Need, application string) (*exec.Session, error) {
	c := p.Control.Facts()
	rules := remote.Rules{Base: c.Base, Superuser: c.Superuser, Named: p.Target.Remotes}
	if _, named := p.Target.Remotes[n.Remote]; n.Role.Name != "" && !named {
		rules.Base, rules.Superuser = c.Base.As(n.Role.Name, ""), n.Role.Superuser
	}
	destination, err := rules.Resolve(n.Remote)
	if err != nil {
		return nil, err
	}
	return destination.Connect(ctx, application, SessionLimit)
}

// configure returns the settings of a session for a role ("": the target's own) and a group.
// version is the server's.
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
		if target.Printable(setting[1]) == setting[1] { // the server does not convert the encoding of these
			cfg.RuntimeParams[setting[0]] = setting[1]
		}
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	// A session is idle only between tasks, or between a task and its end. We have our own limits
	// for that.
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = control.Milliseconds(SessionLimit)
	if major.ClientCheck.In(version) {
		cfg.RuntimeParams["idle_session_timeout"] = "0"
		cfg.RuntimeParams["client_connection_check_interval"] = "1s" // the server notices a dead controller while SQL runs
	}
	return cfg, nil
}

// Try opens a session of a role as for a task, closes it, and returns the error, if any.
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

// login returns the settings by which a role logs in; "": the target's own.
func login(ctx context.Context, t *target.Target, role string) (remote.Settings, error) {
	if role == "" {
		return t.Connect, nil
	}
	password, err := t.Roles[role].Password(ctx)
	return t.Connect.As(role, password), err
}

// initial returns the settings that a session has from its start. They go into the startup packet:
// the server accepts at most 10,000 bytes.
func initial(t *target.Target, group string) [][2]string {
	shown := OfGroup(t, group)
	if len(group) >= 1000 {
		shown = shown[:1] // without pg_task.group
	}
	return append(shown, OfTask(t, "", "", 1)...)
}

// SessionPrefix is the beginning of the application_name of each session of the target in its own
// database. A target with a similar name may have it, too.
func SessionPrefix(t *target.Target) string { return target.ApplicationPrefix(sessionsOf(t)) }

func sessionName(t *target.Target, group string) string {
	return target.ApplicationName(sessionsOf(t) + group)
}

func sessionsOf(t *target.Target) string { return "pg_task " + t.Schema + " " + t.Table + " " }

// OfGroup returns the settings that show a task's group in its session.
func OfGroup(t *target.Target, group string) [][2]string {
	return [][2]string{{"application_name", sessionName(t, group)}, {"pg_task.group", group}}
}

// OfTask returns the settings that show the task itself.
func OfTask(t *target.Target, data, parent string, attempt int) [][2]string {
	return [][2]string{
		{"pg_task.schema", t.Schema},
		{"pg_task.table", t.Table},
		{"pg_task.data", data},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(attempt)},
	}
}
