package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// describeLock adds to a lock timeout who holds locks on the table, or that of the schema, as far as it
// can still be known.
func describeLock(ctx context.Context, conn *pgx.Conn, t Table, err error) error {
	if errors.Is(err, ErrBusy) {
		if h, _ := creating(t.Schema).Holder(ctx, conn); h != nil {
			err = fmt.Errorf("%w: %s", err, h.Text)
		}
	}
	if !isState(err, "55P03") {
		return err
	}
	holders, queryErr := Holders(ctx, conn, t, false)
	if queryErr != nil || len(holders) == 0 {
		return err
	}
	return fmt.Errorf("%w (table %s is in use by %s)", err, t, strings.Join(holders, ", "))
}

// Holders tells which open and prepared transactions hold locks on the table, and how each is
// ended; written: those that have written to it, or to a table that it refers to, and then those
// that may have locked rows. Whoever has locked what a change of the table waits for is mostly
// among these.
func Holders(ctx context.Context, conn *pgx.Conn, t Table, written bool) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := conn.Query(ctx, text("inspect/holders"), t.Schema, t.Name, written)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var text []byte
		err := row.Scan(&text)
		return valid(text), err
	})
}
