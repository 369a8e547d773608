package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
)

// Pooled is the error of a connection that goes through a pooler. The leader's lock, LISTEN and the
// settings of a session need a backend of their own.
type Pooled struct{ by string }

func (p *Pooled) Error() string {
	return p.by + " is on the way to the server: give pgtaskd a dsn that goes to the server itself (clients that insert tasks, and remotes, may go through the pooler)"
}

// Poolers by name.
var (
	pooled = &Pooled{"PgBouncer or another pooler"}
	pgpool = &Pooled{"Pgpool-II"}
)

// refusal returns pooled for the error with which PgBouncer refuses our settings, says if none of
// several hosts is the primary, and returns other errors unchanged.
func refusal(err error) error {
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer) && answer.Code == "08P01" && strings.Contains(answer.Message, "startup parameter"):
		return pooled
	case errors.Is(err, pgconn.ErrStandbyConnection):
		return fmt.Errorf("%w: %w", ErrRecovery, err)
	}
	return err
}

// direct returns a *Pooled if a pooler is on the way. Neon's own proxy shows another process id, but
// the session has our settings. Pgpool-II shows the backend's process id; it is asked only at first, as
// the log of a server shows the question as an error.
func direct(ctx context.Context, conn *pgconn.PgConn, first bool) error {
	shown := "'" + strconv.Itoa(int(int32(conn.PID()))) + "'"
	results, err := conn.Exec(ctx, "SELECT pg_catalog.int4eq(pg_catalog.pg_backend_pid(), "+shown+") OR "+
		"pg_catalog.current_setting('neon.timeline_id', true) IS NOT NULL AND "+
		"pg_catalog.texteq(pg_catalog.current_setting('plan_cache_mode'), 'force_generic_plan')").ReadAll()
	switch {
	case err != nil:
		return err
	case len(results) != 1 || len(results[0].Rows) != 1 || string(results[0].Rows[0][0]) != "t":
		return pooled
	case !first:
		return nil
	}
	_, err = conn.Exec(ctx, "SHOW pool_version").ReadAll()
	switch {
	case err == nil:
		return pgpool
	case fault.IsAnswer(err):
		return nil
	}
	return err
}
