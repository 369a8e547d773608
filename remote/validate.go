package remote

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// unshadowed has pgconn ask a new session for target_session_attrs under a path of our own: it
// names functions without their schema, and the owner of the database may have put another function
// before pg_catalog.
func unshadowed(cfg *pgconn.Config) {
	validate := cfg.ValidateConnect
	if validate == nil {
		return
	}
	cfg.ValidateConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		if _, err := conn.Exec(ctx, "SET search_path TO pg_catalog, pg_temp").ReadAll(); err != nil {
			return err
		}
		answer := validate(ctx, conn) // after an error the session may be used all the same, where no server is preferred
		if _, err := conn.Exec(ctx, "RESET search_path").ReadAll(); err != nil {
			return err
		}
		return answer
	}
}
