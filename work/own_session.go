package work

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/work/pool"
)

// ownSession configures a session for tasks of a group in the target's own database.
func (l *loop) ownSession(group string) (*pgconn.Config, error) {
	cfg, err := remote.Own(l.target.Connect)
	if err != nil {
		return nil, err
	}
	for _, setting := range initial(l.target, group) {
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

// openRemote opens a session elsewhere.
func (l *loop) openRemote(ctx context.Context, name, group string) (*exec.Session, error) {
	c := l.facts.Load()
	rules := remote.Rules{Base: c.base, Superuser: c.superuser, Named: l.target.Remotes}
	destination, err := rules.Resolve(name)
	if err != nil {
		return nil, err
	}
	return destination.Connect(ctx, sessionName(l.target, group), pool.SessionLimit)
}
