package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Null stands for NULL among texts.
const Null = "NULL"

// statementLimit is longer than any statement of a test takes on a busy machine.
const statementLimit = 3 * time.Minute

// Row is a row of a query: its columns as the server writes them, nil for NULL.
type Row map[string]*string

// Text returns a column's value, or Null.
func (r Row) Text(column string) string {
	if r[column] == nil {
		return Null
	}
	return *r[column]
}

// Connect opens a connection until the test ends. change alters its configuration.
func Connect(t testing.TB, dsn string, change ...func(*pgx.ConnConfig)) *pgx.Conn {
	t.Helper()
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range change {
		change(config)
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// Exec runs a statement. Without arguments it uses the simple protocol, and may run several.
func Exec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), statementLimit)
	defer cancel()
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Replicate runs statements as replication does, without triggers. So a test can insert a task that
// claims to run. The role must be a superuser.
func Replicate(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	Exec(t, conn, "SET session_replication_role = replica; SET application_name = 'pgtaskd test'")
	Exec(t, conn, sql, args...)
	Exec(t, conn, "RESET session_replication_role; RESET application_name")
}

// Get returns the one value of a query, cast to text: true, not t. No row counts as NULL.
func Get(t testing.TB, conn *pgx.Conn, sql string, args ...any) (text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), statementLimit)
	defer cancel()
	if err := conn.QueryRow(ctx, "SELECT coalesce(("+sql+")::text, '"+Null+"')", args...).Scan(&text); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return text
}

// Values returns the first column of a statement, as the server writes it: t, not true.
func Values(t testing.TB, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	return collect(t, conn, sql, args, func(row pgx.CollectableRow) (string, error) {
		if value := row.RawValues()[0]; value != nil {
			return string(value), nil
		}
		return Null, nil
	})
}

// Rows returns the rows of a statement.
func Rows(t testing.TB, conn *pgx.Conn, sql string, args ...any) []Row {
	t.Helper()
	return collect(t, conn, sql, args, func(row pgx.CollectableRow) (Row, error) {
		columns := Row{}
		for i, value := range row.RawValues() {
			name := row.FieldDescriptions()[i].Name
			columns[name] = nil
			if value != nil {
				text := string(value)
				columns[name] = &text
			}
		}
		return columns, nil
	})
}

// collect reads rows by the simple protocol, which returns all values as text.
func collect[T any](t testing.TB, conn *pgx.Conn, sql string, args []any, read pgx.RowToFunc[T]) []T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), statementLimit)
	defer cancel()
	rows, err := conn.Query(ctx, sql, append([]any{pgx.QueryExecModeSimpleProtocol}, args...)...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found, err := pgx.CollectRows(rows, read)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}
