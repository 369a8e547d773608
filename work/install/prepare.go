package install

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Connect opens the control connection. Before that it creates a missing database or role, if that
// is wanted and allowed; but not one that has disappeared while the target was served: a person who
// restores it must not find another one there.
func (t *Table) Connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	err := t.dial(ctx)
	if err == nil || !t.Target.Create || *t.Served || !absent(err) {
		return err
	}
	made, failed := create(ctx, t.Target, true)
	for _, what := range made {
		t.Log.Info().Msg("created " + what)
	}
	switch {
	case errors.Is(failed, errNobody):
		return err
	case failed != nil:
		return fmt.Errorf("%w; %w", err, failed)
	}
	return t.dial(ctx)
}

// dial opens the control connection, and says once if it acts as another role than the login.
func (t *Table) dial(ctx context.Context) error {
	err := t.Control.Open(ctx, !*t.Served)
	if acting := acts(t.Control.Facts(), t.Target); err == nil && acting != "" && t.Log.Once(acting, target.SayAgain) {
		t.Log.Info().Msg(acting)
	}
	return err
}

// acts says as which role the login acts, if not as itself.
func acts(f *control.Facts, t target.Target) string {
	login := t.Connect["user"]
	if f.Role == login {
		return ""
	}
	return fmt.Sprintf("login %s acts as role %s, as ALTER ROLE … SET role says: that role owns what is made, and tasks run as it", sql.Quoted(login), sql.Quoted(f.Role))
}

// absent reports whether an error may mean that the database or the role does not exist. With some
// ways of authentication the server does not say so.
func absent(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "3D000" || strings.HasPrefix(answer.Code, "28"))
}

// errNobody means that the dsn names no user. The operating system's user is not used instead.
var errNobody = errors.New("the dsn names no user to create what is missing")

// admin connects with the dsn.
func admin(ctx context.Context, t target.Target) (*pgx.Conn, error) {
	if !remote.NamesUser(t.Admin) {
		return nil, errNobody
	}
	return control.Admin(ctx, t.Admin.With(remote.Settings{"dbname": cmp.Or(t.Admin["dbname"], "postgres")}))
}

// create creates the role and the database of a target; without keep it only returns what it would
// create. The dsn's user owns the database: an owner could make others' sessions there run any SQL,
// and the target's role does not need that.
func create(ctx context.Context, t target.Target, keep bool) (made []string, err error) {
	conn, err := admin(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("the dsn's user, who creates what is missing, cannot connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	role, database := sql.Quoted(t.Connect["user"]), sql.Quoted(t.Connect["dbname"])
	var hasRole, hasDatabase, mayRole, mayDatabase bool
	var user string // the dsn's user
	err = conn.QueryRow(ctx, "SELECT to_regrole(quote_ident($1)) IS NOT NULL, "+
		"EXISTS (SELECT FROM pg_database AS d WHERE d.datname = $2), "+
		"r.rolcreaterole OR r.rolsuper, r.rolcreatedb OR r.rolsuper, r.rolname FROM pg_roles AS r "+
		"WHERE r.rolname = current_user",
		t.Connect["user"], t.Connect["dbname"]).Scan(&hasRole, &hasDatabase, &mayRole, &mayDatabase, &user)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		has, may              bool
		what, statement, with string
	}{
		{hasRole, mayRole, "role " + role, "CREATE ROLE " + role + " LOGIN", ", without a password"},
		{hasDatabase, mayDatabase, "database " + database, "CREATE DATABASE " + database, ""},
	} {
		if one.has {
			continue
		}
		if !one.may {
			return made, fmt.Errorf("%s does not exist and user %q may not create it: run as a superuser: %s", one.what, user, one.statement)
		}
		if keep {
			_, err := conn.Exec(ctx, one.statement)
			if err != nil && !fault.Has(err, "42710", "42P04", "23505") { // otherwise somebody else has just created it
				return made, fmt.Errorf("%s does not exist and could not be created: %w", one.what, err)
			}
		}
		made = append(made, one.what+one.with)
	}
	return made, nil
}
