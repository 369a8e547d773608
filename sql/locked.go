package sql

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// describeLock adds to a lock timeout who holds locks on the table, as far as it can still be
// known.
func describeLock(ctx context.Context, conn *pgx.Conn, t Table, err error) error {
	if !isState(err, "55P03") {
		return err
	}
	holders, queryErr := Holders(ctx, conn, t)
	if queryErr != nil || holders == "" {
		return err
	}
	return fmt.Errorf("%w (table %s is in use by %s)", err, t, holders)
}

// Holders tells who holds locks on the table, in words; nothing if nobody does.
func Holders(ctx context.Context, conn *pgx.Conn, t Table) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := conn.Query(ctx, text("inspect/holders"), t.Schema, t.Name)
	if err != nil {
		return "", err
	}
	holders, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return strings.Join(holders, ", "), err
}

// Writers tells which open transactions have written to the table, in words: whoever
// has locked what a change of the table waits for is among them, if it is a row of the table, or a
// key.
func Writers(ctx context.Context, conn *pgx.Conn, t Table) ([]string, error) {
	rows, err := conn.Query(ctx, text("inspect/writers"), t.Schema, t.Name)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
