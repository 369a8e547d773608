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
	return destination.Connect(ctx, p.Target.SessionName(n.Group), SessionLimit)
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

// OfGroup are the settings that a session shows of a task's group.
func OfGroup(t *target.Target, group string) [][2]string {
	return [][2]string{{"application_name", t.SessionName(group)}, {"pg_task.group", group}}
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
