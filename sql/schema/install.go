package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

const (
	lockTimeout  = "2s"    // for locks on tables, which the users of tasks hold
	lockOptional = "100ms" // the same for optional changes: INSERTs queue after us
	lockWait     = "20s"   // for another Install of the same table, or of what tables share
)

// errBusy: another Install works in the same schema and does not finish.
var errBusy = errors.New("another session is changing the schema of the task tables")

// Install makes the changes that Missing returns, and returns those that it has made (none if
// nothing was missing). It runs in its own transaction, all or nothing. If two run at once, one
// waits for the other.
func Install(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) ([]Change, error) {
	changes, err := Missing(ctx, conn, t, o)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return transact(ctx, conn, t, o, changes, pgx.Tx.Commit)
}

// Rehearse does the same as Install, but rolls back. It returns the changes, or the error, that
// Install would return. It holds the locks of Install for a moment.
func Rehearse(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) ([]Change, error) {
	changes, err := Missing(ctx, conn, t, o)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return transact(ctx, conn, t, o, changes, pgx.Tx.Rollback)
}

// errShares: only another kind of lock on the schema lets others work beside us, or keeps them away.
var errShares = errors.New("the schema has changed meanwhile")

// transact makes the changes. Those of the table alone let others make theirs at the same time.
func transact(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options, changes []Change, end func(pgx.Tx, context.Context) error) (made []Change, err error) {
	alone := wide(changes)
	for range 3 {
		if made, err = attempt(ctx, conn, t, o, alone, end); !errors.Is(err, errShares) {
			return made, err
		}
		alone = !alone
	}
	return nil, err
}

// wide tells whether some of the changes are of objects that tables of the schema share.
func wide(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool {
		kind, name, _ := strings.Cut(c.What, " ")
		return kind == "schema" || kind == "type" || kind == "state" || kind == "function" && strings.HasPrefix(name, "pgtaskd_")
	})
}

func attempt(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options, alone bool, end func(pgx.Tx, context.Context) error) (made []Change, err error) {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, err
	}
	defer func() {
		_ = tx.Rollback(context.WithoutCancel(ctx))
		err = describeLock(ctx, conn, t, err)
	}()
	if err := lockSchema(ctx, conn, t, alone); err != nil {
		return nil, err
	}
	changes, err := Missing(ctx, conn, t, o)
	switch {
	case err != nil:
		return nil, err
	case len(changes) > 0 && wide(changes) != alone:
		return nil, errShares
	}
	timeout := lockOptional
	if slices.ContainsFunc(changes, func(c Change) bool { return !c.Optional }) {
		timeout = lockTimeout
	}
	if err := runSQL(ctx, tx, sql.File("schema/install")+"SET LOCAL lock_timeout = "+sql.Literal(timeout)); err != nil {
		return nil, err
	}
	for i := range changes {
		change := &changes[i]
		if err := change.apply(ctx, tx, t, o.Serving); err != nil && (!change.beside || tx.Conn().IsClosed() || ctx.Err() != nil) {
			return nil, fmt.Errorf("make %s: %w", change.What, err)
		} else if err != nil {
			change.Failed = err
		}
	}
	if o.Made != nil {
		if err := o.Made(ctx, tx); err != nil {
			return nil, err
		}
	}
	return changes, end(tx, ctx)
}

// apply runs the change. If existing rows violate a constraint, it holds only for new rows.
func (c *Change) apply(ctx context.Context, tx pgx.Tx, t sql.Table, role string) error {
	var err error
	if c.beside || c.check { // the transaction goes on after an error
		err = pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { return runSQL(ctx, inner, c.SQL) })
	} else {
		err = runSQL(ctx, tx, c.SQL)
	}
	if c.check && isState(err, "23514") {
		c.SQL = c.SQL[:len(c.SQL)-len(";")] + " NOT VALID;"
		err = runSQL(ctx, tx, c.SQL)
	}
	if isState(err, "42501") {
		return c.denied(err, t, tx.Conn().Config().Database, role)
	}
	return err
}

// Denied is the error of a change for which a right is missing. The server's refusal names only the
// object.
type Denied struct {
	error
	statement string
}

// Unwrap returns the server's refusal.
func (d *Denied) Unwrap() error { return d.error }

// Hint says how to give the right.
func (d *Denied) Hint() string {
	return d.statement + "; or run the output of pgtaskd schema --config FILE as the owner"
}

func (c *Change) denied(err error, t sql.Table, database, role string) error {
	if role != "" {
		role = sql.Plain(role)
	}
	role = cmp.Or(role, "the role")
	needs := func(right, statement string) error { return &Denied{fmt.Errorf("needs %s: %w", right, err), statement} }
	switch kind, _, _ := strings.Cut(c.What, " "); {
	case kind == "schema":
		return needs("CREATE on the database", fmt.Sprintf("GRANT CREATE ON DATABASE %s TO %s", sql.Plain(database), role))
	case !c.Outdated && (kind == "table" || kind == "type" || kind == "function"):
		return needs("CREATE on the schema", fmt.Sprintf("GRANT CREATE ON SCHEMA %s TO %s", sql.Plain(t.Schema), role))
	}
	return needs("ownership", fmt.Sprintf("ALTER TABLE %s OWNER TO %s", sql.Plain(t.Schema, t.Name), role))
}

// lockSchema keeps others from making the table, or (alone) anything in the schema, until the
// transaction ends.
func lockSchema(ctx context.Context, conn *pgx.Conn, t sql.Table, alone bool) error {
	if _, err := conn.Exec(ctx, "SET LOCAL lock_timeout = "+sql.Literal(lockWait)); err != nil {
		return err
	}
	err := lock.Schema(t.Schema, !alone).Await(ctx, conn)
	if err == nil && !alone {
		err = lock.Table(t).Await(ctx, conn)
	}
	if isState(err, "55P03") {
		return errBusy
	}
	return err
}

// describeLock adds to a lock timeout the holders of locks on the table, or of the schema's lock,
// if they can still be found.
func describeLock(ctx context.Context, conn *pgx.Conn, t sql.Table, err error) error {
	if errors.Is(err, errBusy) {
		if h, _ := lock.Schema(t.Schema, false).Holder(ctx, conn); h != nil {
			err = fmt.Errorf("%w: %s", err, h.Text)
		}
	}
	if !isState(err, "55P03") {
		return err
	}
	holders, queryErr := lock.Holders(ctx, conn, t, false)
	if queryErr != nil || len(holders) == 0 {
		return err
	}
	return fmt.Errorf("%w (table %s is in use by %s)", err, t, strings.Join(holders, ", "))
}

// runSQL executes statements that have no parameters.
func runSQL(ctx context.Context, tx pgx.Tx, statements string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, statements).ReadAll()
	return err
}

func isState(err error, sqlstate string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == sqlstate
}
