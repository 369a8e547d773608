package sql

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Hold locks a relation, whose name is quoted, in a transaction that is about to change rows of it,
// which runs nothing. What has the name is looked at afterwards.
func Hold(ctx context.Context, tx pgx.Tx, name string) error {
	var statement string
	if err := tx.QueryRow(ctx, text("inspect/hold"), name).Scan(&statement); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, statement)
	return err
}
