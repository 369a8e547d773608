package work

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/work/pool"
)

// Limits of what somebody asks by hand. A walk through a large table is cut into statements that
// are far shorter.
const (
	askStatementLimit = time.Minute
	askLockLimit      = 10 * time.Second
)

// Dial opens a session of the target's role, with settings of our own, for a command that changes
// the jobs in its table. name is the session's application_name. The error says what to do.
func Dial(ctx context.Context, t Target, name string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	return dial(ctx, t, name, pool.SessionLimit, statementLimit, nil)
}

// Ask opens a session in which a person asks for the target's tasks, or changes them. Its plans are
// those of the controller's. name is its application_name. The error says what to do.
func Ask(ctx context.Context, t Target, name string, writes bool) (*pgx.Conn, error) {
	more := map[string]string{}
	if !writes {
		more["default_transaction_read_only"] = "on"
	}
	conn, err := dial(ctx, t, name, askStatementLimit, askLockLimit, more)
	if err != nil {
		return nil, err
	}
	if err := plansAlike(ctx, conn); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// dial opens a session whose statements are limited, as are the locks they wait for.
func dial(ctx context.Context, t Target, name string, statements, locks time.Duration, more map[string]string) (*pgx.Conn, error) {
	parameters := map[string]string{
		"application_name":                    name,
		"idle_in_transaction_session_timeout": milliseconds(statements),
		"statement_timeout":                   milliseconds(statements),
		"lock_timeout":                        milliseconds(locks),
	}
	maps.Copy(parameters, more)
	cfg, err := ownConfig(t.Connect, parameters)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err == nil {
		if err = endless(ctx, conn, "0"); err == nil {
			return conn, nil
		}
		_ = conn.Close(ctx)
	}
	err = remote.Reason(err)
	if hint := t.hint(err, false); hint != "" {
		return nil, fmt.Errorf("%w (%s)", err, hint)
	}
	return nil, err
}

// ControlName is the application_name of the sessions by which controllers lead the target, or
// stand by.
func (t Target) ControlName() string { return controlName(t) }
