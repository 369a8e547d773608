package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtask/remote"
	"pgtask/sql"
)

// prepare connects to the target; a database or role that is missing is created first, where that is wanted and allowed.
func prepare(ctx context.Context, t Target, log zerolog.Logger) (*control, error) {
	c, err := connect(ctx, t)
	if err != nil && t.Create && absent(err) {
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

func exists(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && (answer.Code == "42710" || answer.Code == "42P04" || answer.Code == "23505")
}

func isDenied(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "42501"
}

func missing(err error, kind, name, statement, user string) error {
	if isDenied(err) {
		return fmt.Errorf("%s %q does not exist and user %q may not create it: run as a superuser: %s", kind, name, user, statement)
	}
	return fmt.Errorf("%s %q does not exist and could not be created: %w", kind, name, err)
}

// install completes the table, where that is wanted, and looks at it; then it listens.
func (l *loop) install(ctx context.Context) error {
	c, t := l.control, table(l.target)
	made, err := complete(ctx, c.conn, l.target)
	if len(made) > 0 {
		l.log.Info().Int("changes", len(made)).Msg("created " + summary(made))
	}
	if err != nil {
		return err
	}
	described, err := sql.Describe(ctx, c.conn, t)
	if err != nil {
		return err
	}
	if !described.Exists {
		return fmt.Errorf("table %s does not exist", t)
	}
	c.table, c.queries = described, described.Queries(t)
	faults, err := lackingRights(ctx, c.conn, c.queries, t)
	if len(faults) > 0 && l.target.Create {
		_, err = completeAsAdmin(ctx, l.target, errors.Join(faults...), func(conn *pgx.Conn) ([]sql.Change, error) {
			return nil, grant(ctx, conn, l.target)
		})
	} else if err == nil {
		err = errors.Join(faults...)
	}
	if err != nil {
		return err
	}
	if described.HasWakeTrigger {
		_, err = c.conn.Exec(ctx, "LISTEN "+quoted(sql.Channel(t)))
	}
	return err
}

// complete adds what the table lacks: as the target's role, or, where that may not, as the dsn's user, who then grants what it takes.
func complete(ctx context.Context, conn *pgx.Conn, t Target) ([]sql.Change, error) {
	if !t.Create {
		return nil, lacking(ctx, conn, t)
	}
	made, err := sql.Install(ctx, conn, table(t), t.Defaults)
	if !isDenied(err) {
		return made, err
	}
	if lacking(ctx, conn, t) == nil {
		return nil, nil // what is missing is not needed
	}
	return completeAsAdmin(ctx, t, err, func(conn *pgx.Conn) ([]sql.Change, error) {
		made, err := sql.Install(ctx, conn, table(t), t.Defaults)
		if err != nil {
			return made, err
		}
		return made, grant(ctx, conn, t)
	})
}

// completeAsAdmin does something as the dsn's user in the target's database; where that is the same user, or is refused too, the first
// refusal stands.
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
	made, err := do(conn)
	if isDenied(err) {
		return made, refusal
	}
	return made, err
}

// grant gives the target's role what it needs to serve the table.
func grant(ctx context.Context, conn *pgx.Conn, t Target) error {
	described, err := sql.Describe(ctx, conn, table(t))
	if err != nil {
		return err
	}
	user := quoted(t.Connect["user"])
	statements := "GRANT USAGE ON SCHEMA " + quoted(t.Schema) + " TO " + user + "; GRANT SELECT, INSERT, UPDATE, DELETE ON " + table(t).String() + " TO " + user
	if _, err := conn.PgConn().Exec(ctx, statements).ReadAll(); err != nil {
		return err
	}
	rows, err := conn.Query(ctx, described.Queries(table(t)).Text("sequences"), t.Schema, t.Table)
	if err != nil {
		return err
	}
	sequences, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, sequence := range sequences {
		if _, err := conn.Exec(ctx, "GRANT USAGE ON SEQUENCE "+sequence+" TO "+user); err != nil {
			return err
		}
	}
	return nil
}

// lackingRights are the statements that give the role what it needs to serve the table, as errors.
func lackingRights(ctx context.Context, conn *pgx.Conn, q sql.Queries, t sql.Table) (faults []error, err error) {
	rows, err := conn.Query(ctx, q.Text("rights"), t.Schema, t.Name)
	if err != nil {
		return nil, err
	}
	grants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, grant := range grants {
		faults = append(faults, fmt.Errorf("a right is missing: %s", grant))
	}
	return faults, err
}

// summary names what was created: the first things, which say most.
func summary(made []sql.Change) string {
	const most = 6
	names := make([]string, 0, most+1)
	for i, change := range made {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(made)-most))
			break
		}
		names = append(names, change.What)
	}
	return strings.Join(names, ", ")
}

// lacking is the error of a table that cannot be served as it is and is not to be changed.
func lacking(ctx context.Context, conn *pgx.Conn, t Target) error {
	changes, err := sql.Missing(ctx, conn, table(t), t.Defaults)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c sql.Change) bool { return c.Optional })
	if len(changes) == 0 {
		return nil
	}
	return fmt.Errorf("table %s lacks %s, and may not be changed: run what pgtask schema prints", table(t), summary(changes))
}

// used tells whether tasks have ever been written to the table: then pauses may be under way.
func (l *loop) used(ctx context.Context) (used bool, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	err = l.control.conn.QueryRow(ctx, l.queries().Text("used")).Scan(&used)
	return used, err
}
