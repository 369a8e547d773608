package sql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// describeLock adds to a lock timeout who holds locks on the table, as far as it can still be known.
func describeLock(ctx context.Context, conn *pgx.Conn, t Table, err error) error {
	if !isState(err, "55P03") {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, queryErr := conn.Query(ctx, text("inspect/holders"), t.Schema, t.Name)
	if queryErr != nil {
		return err
	}
	holders, queryErr := pgx.CollectRows(rows, pgx.RowTo[string])
	if queryErr != nil || len(holders) == 0 {
		return err
	}
	return fmt.Errorf("%w (table %s is in use by %s)", err, t, strings.Join(holders, ", "))
}
