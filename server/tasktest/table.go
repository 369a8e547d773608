package tasktest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
)

// Table is a table of tasks on a connection of the test.
type Table struct {
	T    testing.TB
	Conn *pgx.Conn
	Name string // quoted for SQL
}

var made = servertest.Template{Make: func(ctx context.Context, conn *pgx.Conn) error {
	_, err := schema.Install(ctx, conn, public, schema.Options{})
	return err
}}

var public = sql.Table{Schema: "public", Name: "task"}

// Database is servertest.Database with the table public.task. The table is made once and then
// copied.
func Database(t testing.TB) (dsn string) {
	t.Helper()
	return made.Database(t)
}

// Public is the existing table public.task of the database.
func Public(t testing.TB, conn *pgx.Conn) Table { return Table{T: t, Conn: conn, Name: "public.task"} }

// Make makes or completes the table public.task.
func Make(t testing.TB, conn *pgx.Conn, options schema.Options) Table {
	t.Helper()
	if _, err := schema.Install(t.Context(), conn, public, options); err != nil {
		t.Fatal(err)
	}
	return Public(t, conn)
}

// Exec runs statements.
func (t Table) Exec(sql string, args ...any) {
	t.T.Helper()
	servertest.Exec(t.T, t.Conn, sql, args...)
}

// Get returns the one value of a query as text.
func (t Table) Get(sql string, args ...any) string {
	t.T.Helper()
	return servertest.Get(t.T, t.Conn, sql, args...)
}

// Add inserts a task: columns and values as for INSERT.
func (t Table) Add(columns string, values ...any) (id int64) {
	t.T.Helper()
	places := make([]string, len(values))
	for i := range values {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	insert := "INSERT INTO " + t.Name + " (" + columns + ") VALUES (" + strings.Join(places, ", ") + ") RETURNING id"
	runs := slices.ContainsFunc(values, func(v any) bool { return v == "WORK" || v == "TAKE" })
	if runs { // our trigger refuses an INSERT with these states
		servertest.Exec(t.T, t.Conn, "SET session_replication_role = replica")
	}
	if err := t.Conn.QueryRow(t.T.Context(), insert, values...).Scan(&id); err != nil {
		t.T.Fatalf("%s: %v", insert, err)
	}
	if runs {
		servertest.Exec(t.T, t.Conn, "RESET session_replication_role")
	}
	return id
}

// State returns the state of a task, or "" if there is no such row.
func (t Table) State(id int64) string {
	t.T.Helper()
	return servertest.Get(t.T, t.Conn, "SELECT coalesce((SELECT state::text FROM "+t.Name+" WHERE id = $1), '')", id)
}

// Row returns the row of a task, or nil.
func (t Table) Row(id any) servertest.Row {
	t.T.Helper()
	rows := servertest.Rows(t.T, t.Conn, "SELECT * FROM "+t.Name+" WHERE id = $1", id)
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// JSON returns columns of a task, or expressions over them.
func (t Table) JSON(id int64, columns string) string {
	t.T.Helper()
	return servertest.Get(t.T, t.Conn, "SELECT (SELECT row_to_json(r) FROM (SELECT "+columns+") AS r) FROM "+t.Name+" WHERE id = $1", id)
}

// Becomes waits until a task has one of the states; "" means that the row is gone.
func (t Table) Becomes(limit time.Duration, id int64, states ...string) {
	t.T.Helper()
	var last string
	servertest.Wait(t.T, limit, fmt.Sprintf("task %d to become %v", id, states), func() bool {
		last = t.State(id)
		return slices.Contains(states, last)
	}, func() string { return fmt.Sprintf("task %d is %s, error: %s", id, last, t.Row(id).Text("error")) })
}
