package moving

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
)

//go:embed query/tables.sql
var tablesQuery string

// Tables begins a transaction that only reads, in which these are tables that stay what they are.
// They belong, as do their schemas and the types of their columns, to somebody whom the session's
// role has a reason to trust: to read what others have made could run it. The caller ends it.
func Tables(ctx context.Context, conn *pgx.Conn, scheduler string, names ...string) (pgx.Tx, error) {
	return Locked(ctx, conn, func() error { return ours(ctx, conn, scheduler, names) }, names...)
}

// lockLimit bounds the wait for each lock: whoever may use the schema can be in the way without end.
const lockLimit = "5s"

// Locked begins a transaction that only reads and locks the tables, which runs nothing. They are
// judged before, so that the error says what is wrong, and as what they are when they are locked. An
// error of a lock that is not to be had names who holds it.
func Locked(ctx context.Context, conn *pgx.Conn, judge func() error, names ...string) (pgx.Tx, error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadOnly})
	if err != nil {
		return nil, err
	}
	if err = judge(); err == nil {
		_, err = tx.Exec(ctx, "SET LOCAL lock_timeout = '"+lockLimit+"'")
	}
	for i := 0; i < len(names) && err == nil; i++ {
		if _, err = tx.Exec(ctx, "LOCK TABLE "+names[i]+" IN ACCESS SHARE MODE"); err != nil {
			_ = tx.Rollback(ctx)
			err = inUse(ctx, conn, names[i], err)
		}
	}
	if err == nil {
		err = judge()
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
	holders, unknown := sql.Holders(ctx, conn, sql.Table{Schema: schema, Name: table}, false)
	if unknown != nil || len(holders) == 0 {
		return fmt.Errorf("%s is locked: %w", name, err)
	}
	return fmt.Errorf("%s is locked by %s: %w", name, strings.Join(holders, ", "), err)
}

// ours is an error if these are not tables, or something can run with them that belongs to somebody
// who is not trusted.
func ours(ctx context.Context, conn *pgx.Conn, scheduler string, names []string) error {
	rows, err := conn.Query(ctx, tablesQuery, names)
	if err != nil {
		return err
	}
	var name, database string
	var there bool
	var missing []string
	if _, err = pgx.ForEachRow(rows, []any{&name, &database, &there}, func() error {
		if !there {
			missing = append(missing, name)
		}
		return nil
	}); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("database %q has no %s: there is no table %s", database, scheduler, strings.Join(missing, ", "))
	}
	for _, name := range names {
		if err := Strange(ctx, conn, name, "TABLE", "SCHEMA", "TYPE", "CAST"); err != nil {
			return err
		}
	}
	return nil
}

// Strange is an error if what is of these kinds and can run where somebody reads the table belongs
// to somebody whom the session's role has no reason to trust. A view, or a table with policies, runs
// what its owner likes; who owns the schema can put another table there meanwhile; and where a row
// or a column is shown as JSON, casts of the columns' types run.
func Strange(ctx context.Context, conn *pgx.Conn, name string, kinds ...string) error {
	schema, table, _ := strings.Cut(name, ".")
	_, err := sql.Trusted(ctx, conn, sql.Table{Schema: schema, Name: table}, nil)
	var u *sql.Untrusted
	if !errors.As(err, &u) {
		return err
	}
	for _, o := range u.Objects {
		switch {
		case !slices.Contains(kinds, o.Kind):
		case o.Kind == "TYPE", o.Kind == "CAST":
			return fmt.Errorf("%s has a column with %s %s of role %s, who could have it run anything: give that to somebody you trust, or drop the column",
				name, strings.ToLower(o.Kind), o.Name, o.Owner)
		default:
			return fmt.Errorf("%s %s belongs to role %s, who could have the tables run anything: connect as that role, or as one of its members",
				strings.ToLower(o.Kind), o.Name, o.Owner)
		}
	}
	return nil
}
