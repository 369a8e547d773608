package moving

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

// lockLimit limits the wait for each lock: anybody who may use the schema can hold a lock forever.
const lockLimit = "5s"

// Read reads the jobs of a scheduler, by a query on its tables.
func Read[J any](ctx context.Context, conn *pgx.Conn, trust []string, scheduler, query string, tables ...string) ([]J, error) {
	tx, err := locked(ctx, conn, trust, scheduler, tables)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	rows, _ := tx.Query(ctx, query) // CollectRows returns its error
	return pgx.CollectRows(rows, pgx.RowToStructByPos[J])
}

// locked begins a read-only transaction and locks the tables, so they cannot change. Each must be a
// table of a superuser, of the session's role, or of a role in trust: a view, or a table with
// policies, runs its owner's code. It checks them before it locks them, for a better error, and
// again afterwards. If it cannot get a lock, the error names the holders.
func locked(ctx context.Context, conn *pgx.Conn, trust []string, scheduler string, names []string) (pgx.Tx, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	if err = trusted(ctx, tx, trust, scheduler, names); err == nil {
		_, err = tx.Exec(ctx, "SET LOCAL lock_timeout = '"+lockLimit+"'")
	}
	for i := 0; i < len(names) && err == nil; i++ {
		if _, err = tx.Exec(ctx, "LOCK TABLE "+names[i]+" IN ACCESS SHARE MODE"); err != nil {
			_ = tx.Rollback(ctx)
			err = inUse(ctx, conn, names[i], err)
		}
	}
	if err == nil {
		err = trusted(ctx, tx, trust, scheduler, names)
	}
	if err != nil {
		_ = tx.Rollback(ctx)
		return nil, err
	}
	return tx, nil
}

// inUse adds the holders to the error of a lock, if they are still known.
func inUse(ctx context.Context, conn *pgx.Conn, name string, err error) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != "55P03" {
		return err
	}
	schema, table, _ := strings.Cut(name, ".")
	holders, unknown := lock.Holders(ctx, conn, sql.Table{Schema: schema, Name: table}, false)
	if unknown != nil || len(holders) == 0 {
		return fmt.Errorf("%s is locked: %w", name, err)
	}
	return fmt.Errorf("%s is locked by %s: %w", name, strings.Join(holders, ", "), err)
}

// trusted fails if a name is not that of a table, or if its owner is not trusted.
func trusted(ctx context.Context, tx pgx.Tx, trust []string, scheduler string, names []string) error {
	rows, err := tx.Query(ctx, sql.File("moving/tables"), names, trust)
	if err != nil {
		return err
	}
	var name, database, owner string
	var there, fine bool
	var missing []string
	var strange error
	if _, err = pgx.ForEachRow(rows, []any{&name, &database, &there, &owner, &fine}, func() error {
		switch {
		case !there:
			missing = append(missing, name)
		case !fine && strange == nil:
			strange = fmt.Errorf("table %s belongs to role %s, who could have it run anything with your rights: connect as that role, or trust it with --trust %[2]s", name, owner)
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
