package moving

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

//go:embed query/tables.sql
var tablesQuery string

// lockLimit bounds the wait for each lock: whoever may use the schema can be in the way without
// end.
const lockLimit = "5s"

// Tables begins a transaction that only reads, in which these are tables that stay what they are.
// They belong to a superuser, the session's role, or a role in trust: a view, or a table with
// policies, runs what its owner likes. They are judged before they are locked, which runs nothing,
// so that the error says what is wrong, and as what they are then. An error of a lock that is not
// to be had names who holds it. The caller ends the transaction.
func Tables(ctx context.Context, conn *pgx.Conn, trust []string, scheduler string, names ...string) (pgx.Tx, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	if err = judge(ctx, tx, trust, scheduler, names); err == nil {
		_, err = tx.Exec(ctx, "SET LOCAL lock_timeout = '"+lockLimit+"'")
	}
	for i := 0; i < len(names) && err == nil; i++ {
		if _, err = tx.Exec(ctx, "LOCK TABLE "+names[i]+" IN ACCESS SHARE MODE"); err != nil {
			_ = tx.Rollback(ctx)
			err = inUse(ctx, conn, names[i], err)
		}
	}
	if err == nil {
		err = judge(ctx, tx, trust, scheduler, names)
	}
	if err != nil {
		_ = tx.Rollback(ctx)
		return nil, err
	}
	return tx, nil
}

// inUse adds to the error of a lock who is in its way, as far as that can still be known.
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

// judge is an error if these are not tables, or belong to somebody who is not trusted.
func judge(ctx context.Context, tx pgx.Tx, trust []string, scheduler string, names []string) error {
	rows, err := tx.Query(ctx, tablesQuery, names, trust)
	if err != nil {
		return err
	}
	var name, database, owner string
	var there, trusted bool
	var missing []string
	var strange error
	if _, err = pgx.ForEachRow(rows, []any{&name, &database, &there, &owner, &trusted}, func() error {
		switch {
		case !there:
			missing = append(missing, name)
		case !trusted && strange == nil:
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
