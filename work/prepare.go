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

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// prepare connects to the target; a database or role that is missing is created first, where that
// is wanted and allowed. What has been there while the target was served is not missing, but has
// been taken away: by somebody who must not find it in the way.
func prepare(ctx context.Context, c *control.Control, t target.Target, served bool, log zerolog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	err := c.Open(ctx)
	if err != nil && t.Create && !served && absent(err) {
		made, failed := create(ctx, t, true)
		for _, what := range made {
			log.Info().Msg("created " + what)
		}
		switch {
		case errors.Is(failed, errNobody):
		case failed != nil:
			return fmt.Errorf("%w; %w", err, failed)
		default:
			err = c.Open(ctx)
		}
	}
	return err
}

// absent tells whether an error may mean that the database or the role does not exist. With some
// ways of authentication the server does not say so.
func absent(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "3D000" || strings.HasPrefix(answer.Code, "28"))
}

// errNobody is the error where the dsn names no user who could create what is missing: that of the
// operating system is not meant.
var errNobody = errors.New("the dsn names no user to create what is missing")

// adminDatabase is the one to which the dsn's user connects to create what is missing.
func adminDatabase(t target.Target) string { return cmp.Or(t.Admin["dbname"], "postgres") }

// admin connects as the dsn says.
func admin(ctx context.Context, t target.Target) (*pgx.Conn, error) {
	if !remote.NamesUser(t.Admin) {
		return nil, errNobody
	}
	return control.Admin(ctx, t.Admin.With(remote.Settings{"dbname": adminDatabase(t)}))
}

// create makes the role and the database of a target, or only says what it would make. The database
// is the dsn's user's: its owner could have others' sessions there run what it likes, and the
// target's role needs none of that.
func create(ctx context.Context, t target.Target, keep bool) (made []string, err error) {
	conn, err := admin(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("the dsn's user, who creates what is missing, cannot connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	role, database := quoted(t.Connect["user"]), quoted(t.Connect["dbname"])
	var hasRole, hasDatabase, mayRole, mayDatabase bool
	var user string // the dsn's
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
			if _, err := conn.Exec(ctx, one.statement); err != nil && !exists(err) {
				return made, fmt.Errorf("%s does not exist and could not be created: %w", one.what, err)
			}
		}
		made = append(made, one.what+one.with)
	}
	return made, nil
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func exists(err error) bool { return fault.Has(err, "42710", "42P04", "23505") }

// complete adds what the table lacks: as the target's role, or, where that may not, as the dsn's
// user, who then grants what it takes. Where it is not to be kept, it only tries. There is no error
// where the table can be served as it is.
func complete(ctx context.Context, conn *pgx.Conn, t target.Target, o schema.Options, keep bool) (made []schema.Change, byAdmin bool, err error) {
	if !t.Create {
		_, needed := shortfall(ctx, conn, t, o)
		return nil, false, needed
	}
	install := schema.Install
	if !keep {
		install = schema.Rehearse
	}
	made, err = install(ctx, conn, t.Relation(), o)
	if err == nil {
		err = remaining(made)
	}
	if err == nil || !fault.IsDenied(err) {
		return made, false, err
	}
	old, needed := shortfall(ctx, conn, t, o)
	if needed == nil && old == "" {
		return made, false, nil // what is missing is not needed
	}
	help, err := completeAsAdmin(ctx, t, err, func(conn *pgx.Conn) ([]schema.Change, error) {
		byAdmin = true
		made, err := install(ctx, conn, t.Relation(), o)
		if err == nil && keep {
			err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return schema.GrantBeside(ctx, tx, t.Relation(), t.Connect["user"]) })
		}
		if err == nil {
			err = remaining(made)
		}
		return made, err
	})
	if needed == nil {
		err = nil
	}
	return append(made, help...), byAdmin, err
}

// remaining is the error of what another version of ours, or a dump, has brought, and that could not
// be made again.
func remaining(made []schema.Change) error {
	for _, change := range made {
		if change.Outdated && change.Failed != nil {
			return change.Failed
		}
	}
	return nil
}

// completeAsAdmin does something as the dsn's user in the target's database; where that is the same
// user, or is refused too, the first refusal stands.
func completeAsAdmin(ctx context.Context, t target.Target, refusal error, do func(*pgx.Conn) ([]schema.Change, error)) ([]schema.Change, error) {
	if t.Admin["user"] == t.Connect["user"] && t.Admin["user"] != "" {
		return nil, refusal
	}
	t.Admin = t.Admin.With(remote.Settings{"dbname": t.Connect["dbname"]})
	conn, err := admin(ctx, t)
	if err != nil {
		return nil, refusal
	}
	defer func() { _ = conn.Close(ctx) }()
	made, err := do(conn)
	if fault.IsDenied(err) {
		err = refusal
	}
	return made, err
}

// errTried has a transaction be rolled back that was only tried.
var errTried = errors.New("only tried")

// grantAsAdmin has the dsn's user grant what the role lacks, or only tries.
func grantAsAdmin(ctx context.Context, t target.Target, lack *lackOfRights, keep bool) error {
	_, err := completeAsAdmin(ctx, t, lack, func(conn *pgx.Conn) ([]schema.Change, error) {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			if _, err := conn.PgConn().Exec(ctx, strings.Join(lack.grants, "; ")).ReadAll(); err != nil {
				return err
			}
			if err := schema.GrantBeside(ctx, tx, t.Relation(), t.Connect["user"]); err != nil || keep {
				return err
			}
			return errTried
		})
		if errors.Is(err, errTried) {
			err = nil
		}
		return nil, err
	})
	return err
}
