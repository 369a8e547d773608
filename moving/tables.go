package moving

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

//go:embed query/tables.sql
var tablesQuery string

// Tables begins a transaction that only reads, in which these are tables that stay what they are.
// They belong, as do their schemas, to somebody whom the session's role has a reason to trust: to
// read what others have made could run it. The caller ends it.
func Tables(ctx context.Context, conn *pgx.Conn, scheduler string, names ...string) (pgx.Tx, error) {
	return Locked(ctx, conn, func() error { return ours(ctx, conn, scheduler, names) }, names...)
}

// Locked begins a transaction that only reads and locks the tables, which runs nothing. They are
// judged before, so that the error says what is wrong, and as what they are when they are locked.
func Locked(ctx context.Context, conn *pgx.Conn, judge func() error, names ...string) (pgx.Tx, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	if err = judge(); err == nil {
		if _, err = tx.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN ACCESS SHARE MODE"); err == nil {
			err = judge()
		}
	}
	if err != nil {
		_ = tx.Rollback(ctx)
		return nil, err
	}
	return tx, nil
}

// ours is an error if these are not tables, or not of somebody who is trusted.
func ours(ctx context.Context, conn *pgx.Conn, scheduler string, names []string) error {
	roles, err := sql.TrustedRoles(ctx, conn)
	if err != nil {
		return err
	}
	rows, err := conn.Query(ctx, tablesQuery, names, roles)
	if err != nil {
		return err
	}
	var name, database, object, owner string
	var there, trusted bool
	var missing []string
	var strange error
	if _, err = pgx.ForEachRow(rows, []any{&name, &database, &there, &object, &owner, &trusted}, func() error {
		if !there && !slices.Contains(missing, name) {
			missing = append(missing, name)
		} else if there && !trusted && strange == nil {
			strange = fmt.Errorf("%s belongs to role %q, who could have the tables run anything: connect as that role, or as one of its members", object, owner)
		}
		return nil
	}); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("database %q has no %s: there is no table %s", database, scheduler, strings.Join(missing, ", "))
	}
	return strange
}
