package work

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
	"pgtaskd/sql"
)

// complete adds what the table lacks: as the target's role, or, where that may not, as the dsn's
// user, who then grants what it takes.
func complete(ctx context.Context, conn *pgx.Conn, t Target) ([]sql.Change, error) {
	if !t.Create {
		return nil, lacking(ctx, conn, t)
	}
	made, err := sql.Install(ctx, conn, table(t), options(t))
	if !isDenied(err) {
		return made, err
	}
	if lacking(ctx, conn, t) == nil {
		return nil, nil // what is missing is not needed
	}
	return completeAsAdmin(ctx, t, err, func(conn *pgx.Conn) ([]sql.Change, error) {
		made, err := sql.Install(ctx, conn, table(t), ownOptions(t))
		if err != nil {
			return made, err
		}
		return made, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return grant(ctx, tx, t) })
	})
}

// ownOptions are those of the dsn's user, who helps with nothing that belongs to others: they could
// have it run what they like.
func ownOptions(t Target) sql.Options {
	o := options(t)
	o.Alone = true
	return o
}

// completeAsAdmin does something as the dsn's user in the target's database; where that is the same
// user, or is refused too, or has to do with what belongs to others, the first refusal stands.
func completeAsAdmin(ctx context.Context, t Target, refusal error, do func(*pgx.Conn) ([]sql.Change, error)) ([]sql.Change, error) {
	if t.Admin["user"] == t.Connect["user"] && t.Admin["user"] != "" {
		return nil, refusal
	}
	t.Admin = t.Admin.With(remote.Settings{"dbname": t.Connect["dbname"]})
	conn, err := admin(ctx, t)
	if err != nil {
		return nil, refusal
	}
	defer func() { _ = conn.Close(ctx) }()
	trusts, err := sql.Trusts(ctx, conn, t.Connect["user"])
	switch {
	case err != nil:
		return nil, err
	case !trusts:
		return nil, fmt.Errorf("%w; %w", refusal, &distrust{t.Connect["user"], t.Admin["user"]})
	}
	made, err := do(conn)
	switch {
	case isDenied(err):
		return made, refusal
	case sql.IsUntrusted(err):
		return made, fmt.Errorf("%w; user %s of the dsn changes nothing that belongs to others: let the owner run the output of pgtaskd schema", refusal, quoted(t.Admin["user"]))
	}
	return made, err
}

// distrust is the error of a target's role that has no reason to trust the dsn's user with what it
// runs.
type distrust struct{ role, user string }

func (d *distrust) Error() string {
	return fmt.Sprintf("role %s has no reason to trust what user %s of the dsn would create: GRANT %[2]s TO %[1]s, or let a superuser create it", quoted(d.role), quoted(d.user))
}

// grant gives the target's role what it needs to serve the table, where that is the connection's
// user's to give.
func grant(ctx context.Context, tx pgx.Tx, t Target) error {
	if _, err := tx.Exec(ctx, "LOCK TABLE "+table(t).String()+" IN ACCESS SHARE MODE"); err != nil {
		return err
	}
	schema, err := sql.Grantable(ctx, tx.Conn(), table(t))
	if err != nil {
		return err
	}
	user := quoted(t.Connect["user"])
	statements := "GRANT SELECT, INSERT, UPDATE, DELETE ON " + table(t).String() + " TO " + user
	if schema {
		statements += "; GRANT USAGE ON SCHEMA " + quoted(t.Schema) + " TO " + user
	}
	if _, err := tx.Conn().PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		return err
	}
	if err := sql.GrantRegister(ctx, tx, table(t), t.Connect["user"]); err != nil {
		return err
	}
	if err := sql.GrantBeside(ctx, tx, table(t), t.Connect["user"]); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, sql.Description{}.Queries(table(t)).Text("sequences"), t.Schema, t.Table)
	if err != nil {
		return err
	}
	sequences, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, sequence := range sequences {
		if _, err := tx.Exec(ctx, "GRANT USAGE ON SEQUENCE "+sequence+" TO "+user); err != nil {
			return err
		}
	}
	return nil
}
