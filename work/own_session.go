package work

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/work/pool"
)

// ownSession configures a session for such tasks in the target's own database.
func (l *loop) ownSession(ctx context.Context, n pool.Need) (*pgconn.Config, error) {
	settings, err := l.target.login(ctx, n.Role.Name)
	if err != nil {
		return nil, err
	}
	cfg, err := remote.Own(settings)
	if err != nil {
		return nil, err
	}
	for _, setting := range initial(l.target, n.Group) {
		if printable(setting[1]) == setting[1] { // the server takes these as they come, in no encoding
			cfg.RuntimeParams[setting[0]] = setting[1]
		}
	}
	cfg.RuntimeParams["client_encoding"] = "UTF8"
	// A session is idle only between tasks, or between a task and its end: that is our business,
	// and has limits of its own.
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = milliseconds(pool.SessionLimit)
	if l.facts.Load().version >= 140000 {
		cfg.RuntimeParams["idle_session_timeout"] = "0"
		cfg.RuntimeParams["client_connection_check_interval"] = "1s" // a controller that is gone is noticed while a statement runs
	}
	return cfg, nil
}

// login are the settings by which a role logs in; "": the target's own.
func (t *Target) login(ctx context.Context, role string) (remote.Settings, error) {
	if role == "" {
		return t.Connect, nil
	}
	password, err := t.Roles[role].Password(ctx)
	return t.Connect.As(role, password), err
}

// openRemote opens a session elsewhere. The rules ask for the role of the task: what a string
// leaves out comes from the target's own connection, but not who that is. A remote of the
// configuration is everybody's.
func (l *loop) openRemote(ctx context.Context, n pool.Need) (*exec.Session, error) {
	c := l.facts.Load()
	rules := remote.Rules{Base: c.base, Superuser: c.superuser, Named: l.target.Remotes}
	if _, named := l.target.Remotes[n.Remote]; n.Role.Name != "" && !named {
		rules.Base, rules.Superuser = c.base.As(n.Role.Name, ""), n.Role.Superuser
	}
	destination, err := rules.Resolve(n.Remote)
	if err != nil {
		return nil, err
	}
	return destination.Connect(ctx, sessionName(l.target, n.Group), pool.SessionLimit)
}
