package lock

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Holders tells which open and prepared transactions hold locks on the table, and how each is
// ended; written: those that have written to it, or to a table that it refers to, and then those
// that may have locked rows. The one that a change of the table waits for is mostly among these.
func Holders(ctx context.Context, conn *pgx.Conn, t sql.Table, written bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := conn.Query(ctx, statements.Text("holders"), t.Schema, t.Name, written)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var text []byte
		err := row.Scan(&text)
		return valid(text), err
	})
}
