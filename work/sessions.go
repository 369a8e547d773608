package work

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/work/control"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// opener opens sessions for tasks. Any goroutine may use it.
type opener struct {
	target  *target.Target
	control *control.Control
}

// own configures a session for such tasks in the target's own database.
func (o opener) own(ctx context.Context, n pool.Need) (*pgconn.Config, error) {
	return taskSession(ctx, o.target, n.Role.Name, n.Group, o.control.Facts().Version)
}

// taskSession configures a session of a role ("": the target's own) for tasks of a group. version
// is the server's.
func taskSession(ctx context.Context, t *target.Target, role, group string, version int) (*pgconn.Config, error) {
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
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = control.Milliseconds(pool.SessionLimit)
	if version >= 140000 {
		cfg.RuntimeParams["idle_session_timeout"] = "0"
		cfg.RuntimeParams["client_connection_check_interval"] = "1s" // a controller that is gone is noticed while a statement runs
	}
	return cfg, nil
}

// trySession is an error if no session of a role can be opened for tasks.
func trySession(ctx context.Context, t *target.Target, role string, version int) error {
	ctx, cancel := context.WithTimeout(ctx, control.ConnectLimit)
	defer cancel()
	cfg, err := taskSession(ctx, t, role, "", version)
	if err != nil {
		return err
	}
	session, err := exec.Connect(ctx, cfg, pool.SessionLimit, true, true)
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

// elsewhere opens a session elsewhere. The rules ask for the role of the task: what a string
// leaves out comes from the target's own connection, but not who that is. A remote of the
// configuration is everybody's.
func (o opener) elsewhere(ctx context.Context, n pool.Need) (*exec.Session, error) {
	c := o.control.Facts()
	rules := remote.Rules{Base: c.Base, Superuser: c.Superuser, Named: o.target.Remotes}
	if _, named := o.target.Remotes[n.Remote]; n.Role.Name != "" && !named {
		rules.Base, rules.Superuser = c.Base.As(n.Role.Name, ""), n.Role.Superuser
	}
	destination, err := rules.Resolve(n.Remote)
	if err != nil {
		return nil, err
	}
	return destination.Connect(ctx, o.target.SessionName(n.Group), pool.SessionLimit)
}

// initial are the settings that a session has from its start. They go into a packet that the server
// takes up to 10,000 bytes of.
func initial(t *target.Target, group string) [][2]string {
	settings := append(run.Parameters(t, "", "", 1),
		[2]string{"application_name", t.SessionName(group)})
	if len(group) < 1000 {
		settings = append(settings, [2]string{"pg_task.group", group})
	}
	return settings
}
