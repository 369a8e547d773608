package work

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/sql"
)

// prepare connects to the target; a database or role that is missing is created first, where that is wanted and allowed. What has been
// there while the target was served is not missing, but has been taken away: by somebody who must not find it in the way.
func prepare(ctx context.Context, t Target, served bool, log zerolog.Logger) (*control, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	c, err := connect(ctx, t)
	if err != nil && t.Create && !served && absent(err) {
		made, failed := create(ctx, t)
		for _, what := range made {
			log.Info().Msg("created " + what)
		}
		if failed != nil {
			return nil, failed
		}
		c, err = connect(ctx, t)
	}
	if err != nil {
		return nil, err
	}
	c.queries = sql.Description{}.Queries(table(t))
	return c, nil
}

func table(t Target) sql.Table { return sql.Table{Schema: t.Schema, Name: t.Table} }

// absent tells whether an error may mean that the database or the role does not exist. With some ways of authentication the server
// does not say so.
func absent(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "3D000" || strings.HasPrefix(answer.Code, "28"))
}

// absences are what has to be created before the target can be connected to.
type absences struct {
	role, database bool
	mayRole        bool // the dsn's user may create roles
	mayDatabase    bool // and databases
	super          bool
	user           string // the dsn's
}

// look asks, as the dsn's user, what is missing.
func look(ctx context.Context, t Target) (*pgx.Conn, absences, error) {
	var a absences
	conn, err := admin(ctx, t)
	if err != nil {
		return nil, a, err
	}
	err = conn.QueryRow(ctx, "SELECT to_regrole(quote_ident($1)) IS NULL, NOT EXISTS (SELECT FROM pg_catalog.pg_database WHERE datname = $2), "+
		"r.rolcreaterole OR r.rolsuper, r.rolcreatedb OR r.rolsuper, r.rolsuper, r.rolname FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user",
		t.Connect["user"], t.Connect["dbname"]).Scan(&a.role, &a.database, &a.mayRole, &a.mayDatabase, &a.super, &a.user)
	if err != nil {
		_ = conn.Close(ctx)
		return nil, a, err
	}
	return conn, a, nil
}

// admin connects as the dsn says; to the database postgres where it names none.
func admin(ctx context.Context, t Target) (*pgx.Conn, error) {
	settings := t.Admin
	if settings["dbname"] == "" {
		settings = settings.With(remote.Settings{"dbname": "postgres"})
	}
	own, err := remote.Own(settings)
	if err != nil {
		return nil, err
	}
	cfg, err := pgx.ParseConfig("")
	if err != nil {
		return nil, err
	}
	exec.Bound(own)
	cfg.Config = *own
	cfg.RuntimeParams["statement_timeout"] = milliseconds(statementLimit)
	cfg.RuntimeParams["lock_timeout"] = milliseconds(lockLimit)
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	return pgx.ConnectConfig(ctx, cfg)
}

// create makes the role and the database of a target.
func create(ctx context.Context, t Target) (made []string, err error) {
	conn, a, err := look(ctx, t)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	user, database := t.Connect["user"], t.Connect["dbname"]
	if a.role {
		if _, err := conn.Exec(ctx, "CREATE ROLE "+quoted(user)+" LOGIN"); err != nil && !exists(err) {
			return made, missing(err, "role", user, "CREATE ROLE "+quoted(user)+" LOGIN", a.user)
		}
		made = append(made, "role "+quoted(user))
	}
	if a.database {
		statement := "CREATE DATABASE " + quoted(database) + " OWNER " + quoted(user)
		_, err := conn.Exec(ctx, statement)
		if isDenied(err) && a.mayDatabase { // no member of the owner: own it ourselves
			_, err = conn.Exec(ctx, "CREATE DATABASE "+quoted(database))
		}
		if err != nil && !exists(err) {
			return made, missing(err, "database", database, statement, a.user)
		}
		made = append(made, "database "+quoted(database))
	}
	return made, nil
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func exists(err error) bool { return hasState(err, "42710", "42P04", "23505") }

func isDenied(err error) bool { return hasState(err, "42501") }

func missing(err error, kind, name, statement, user string) error {
	if isDenied(err) {
		return fmt.Errorf("%s %q does not exist and user %q may not create it: run as a superuser: %s", kind, name, user, statement)
	}
	return fmt.Errorf("%s %q does not exist and could not be created: %w", kind, name, err)
}
