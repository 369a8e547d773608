package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/remote"
	"pgtaskd/sql"
)

// prepare connects to the target; a database or role that is missing is created first, where that
// is wanted and allowed. What has been there while the target was served is not missing, but has
// been taken away: by somebody who must not find it in the way.
func prepare(ctx context.Context, t Target, served bool, log zerolog.Logger) (*control, error) {
	ctx, cancel := context.WithTimeout(ctx, prepareLimit)
	defer cancel()
	c, err := connect(ctx, t)
	if err != nil && t.Create && !served && absent(err) {
		made, failed := create(ctx, t)
		for _, what := range made {
			log.Info().Msg("created " + what)
		}
		switch {
		case errors.Is(failed, errNobody):
		case failed != nil:
			return nil, fmt.Errorf("%w; %w", err, failed)
		default:
			c, err = connect(ctx, t)
		}
	}
	if err != nil {
		return nil, err
	}
	c.queries = sql.Description{}.Queries(table(t))
	c.leads = leadership{own: sql.Leadership(table(t), false), above: map[sql.Table]*sql.Lock{}}
	return c, nil
}

func table(t Target) sql.Table { return sql.Table{Schema: t.Schema, Name: t.Table} }

// absent tells whether an error may mean that the database or the role does not exist. With some
// ways of authentication the server does not say so.
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
	err = conn.QueryRow(ctx, "SELECT pg_catalog.to_regrole(pg_catalog.quote_ident($1)) IS NULL, "+
		"NOT EXISTS (SELECT FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) $2), "+
		"r.rolcreaterole OR r.rolsuper, r.rolcreatedb OR r.rolsuper, r.rolsuper, r.rolname FROM pg_catalog.pg_roles AS r "+
		"WHERE r.rolname OPERATOR(pg_catalog.=) current_user",
		t.Connect["user"], t.Connect["dbname"]).Scan(&a.role, &a.database, &a.mayRole, &a.mayDatabase, &a.super, &a.user)
	if err != nil {
		_ = conn.Close(ctx)
		return nil, a, err
	}
	return conn, a, nil
}

// errNobody is the error where the dsn names no user who could create what is missing: that of the
// operating system is not meant.
var errNobody = errors.New("the dsn names no user to create what is missing")

// adminDatabase is the one to which the dsn's user connects to create what is missing.
func (t Target) adminDatabase() string { return cmp.Or(t.Admin["dbname"], "postgres") }

// admin connects as the dsn says.
func admin(ctx context.Context, t Target) (*pgx.Conn, error) {
	if !remote.NamesUser(t.Admin) {
		return nil, errNobody
	}
	cfg, err := ownConfig(t.Admin.With(remote.Settings{"dbname": t.adminDatabase()}), map[string]string{
		"statement_timeout":  milliseconds(statementLimit),
		"lock_timeout":       milliseconds(lockLimit),
		"default_tablespace": "", // the database's owner may name one that is not the owner's to use
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	return conn, remote.Reason(err)
}

// trusted is an error if the target's role has no reason to trust the dsn's user: what that would
// make could not be served.
func (a absences) trusted(ctx context.Context, conn *pgx.Conn, user string) error {
	does, err := sql.Trusts(ctx, conn, user)
	if err == nil && !does {
		err = &distrust{user, a.user}
	}
	return err
}

// create makes the role and the database of a target. The database is the dsn's user's: its owner
// could have others' sessions there run what it likes, and the target's role needs none of that.
func create(ctx context.Context, t Target) (made []string, err error) {
	conn, a, err := look(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("the dsn's user, who creates what is missing, cannot connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	user, database := t.Connect["user"], t.Connect["dbname"]
	if a.role {
		if _, err := conn.Exec(ctx, "CREATE ROLE "+quoted(user)+" LOGIN"); err != nil && !exists(err) {
			return made, missing(err, "role", user, "CREATE ROLE "+quoted(user)+" LOGIN", a.user)
		}
		made = append(made, "role "+quoted(user)+", without a password")
	}
	if a.database {
		if err := a.trusted(ctx, conn, user); err != nil {
			return made, err
		}
		statement := "CREATE DATABASE " + quoted(database)
		if _, err := conn.Exec(ctx, statement); err != nil && !exists(err) {
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
