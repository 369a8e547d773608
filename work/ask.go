package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
)

// Limits of what somebody asks by hand. A walk through a large table is cut into statements that
// are far shorter.
const (
	askStatementLimit = time.Minute
	askLockLimit      = 10 * time.Second
)

// Ask opens a session in which a person asks for the target's tasks, or changes them. Its plans are
// those of the controller's.
func Ask(ctx context.Context, t Target, name string, writes bool) (*pgx.Conn, error) {
	parameters := map[string]string{
		"application_name":                    name,
		"statement_timeout":                   milliseconds(askStatementLimit),
		"lock_timeout":                        milliseconds(askLockLimit),
		"idle_in_transaction_session_timeout": milliseconds(askStatementLimit),
	}
	if !writes {
		parameters["default_transaction_read_only"] = "on"
	}
	cfg, err := ownConfig(t.Connect, parameters)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, t.explained(remote.Reason(err))
	}
	if err = endless(ctx, conn, "0"); err == nil {
		err = plansAlike(ctx, conn)
	}
	if err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// explained adds to an error what to do about it.
func (t Target) explained(err error) error {
	if hint := t.hint(err, false); hint != "" {
		return fmt.Errorf("%w (%s)", err, hint)
	}
	return err
}

// ControlName is the application_name of the sessions by which controllers lead the target, or
// stand by.
func (t Target) ControlName() string { return controlName(t) }
