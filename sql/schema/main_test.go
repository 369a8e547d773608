package schema

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

func TestMain(m *testing.M) { servertest.Main(m) }

func named(schema, name string) sql.Table { return sql.Table{Schema: schema, Name: name} }

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	return servertest.Connect(t, dsn)
}

// database returns a connection to a new database.
func database(t *testing.T) *pgx.Conn {
	t.Helper()
	return connect(t, servertest.Database(t))
}

// made is a database with the table public.task.
var made = servertest.Template{Make: func(ctx context.Context, conn *pgx.Conn) error {
	_, err := Install(ctx, conn, task, Options{})
	return err
}}

// furnished returns a connection to a new database with that table.
func furnished(t *testing.T) *pgx.Conn {
	t.Helper()
	return connect(t, made.Database(t))
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	servertest.Exec(t, conn, sql)
}

// refused fails the test unless the statement fails with this SQLSTATE.
func refused(t *testing.T, conn *pgx.Conn, sql, sqlstate string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); !isState(err, sqlstate) {
		t.Errorf("%s: got error %v, want SQLSTATE %s", sql, err, sqlstate)
	}
}

func value(t *testing.T, conn *pgx.Conn, sql string) string {
	t.Helper()
	return servertest.Get(t, conn, sql)
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func install(t *testing.T, conn *pgx.Conn, table sql.Table, defaults map[string]string) []Change {
	t.Helper()
	changes, err := Install(t.Context(), conn, table, Options{Defaults: defaults})
	if err != nil {
		t.Fatalf("Install: %v", err)
	}
	return changes
}

// complete fails the test if the table still lacks something.
func complete(t *testing.T, conn *pgx.Conn, table sql.Table, defaults map[string]string) {
	t.Helper()
	changes, err := Missing(t.Context(), conn, table, Options{Defaults: defaults})
	if err != nil {
		t.Fatalf("Missing: %v", err)
	}
	for _, change := range changes {
		t.Errorf("still missing: %s: %s", change.What, change.SQL)
	}
}

// script runs the script that DDL returns.
func script(t *testing.T, conn *pgx.Conn, table sql.Table, o Options) {
	t.Helper()
	execute(t, conn, DDL(table, o))
}
