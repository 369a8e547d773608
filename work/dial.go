package work

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/work/pool"
)

// Dial opens a session of the target's role, with settings of our own, for a command that looks at
// or changes its table. application is the session's name.
func Dial(ctx context.Context, t Target, application string) (*pgx.Conn, error) {
	cfg, err := ownConfig(t.Connect, map[string]string{
		"application_name":                    application,
		"idle_in_transaction_session_timeout": milliseconds(pool.SessionLimit),
		"statement_timeout":                   milliseconds(pool.SessionLimit),
		"lock_timeout":                        milliseconds(statementLimit),
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
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
