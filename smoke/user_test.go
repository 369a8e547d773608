package smoke

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
	"pgtaskd/server/tasktest"
)

// user is somebody connected to a database who uses one of its tables of tasks.
type user struct {
	*testing.T
	conn  *pgx.Conn
	table string
}

type task servertest.Row

// connect connects until the test ends. The table of tasks is task.
func connect(t *testing.T, dsn string) *user {
	t.Helper()
	return &user{t, servertest.Connect(t, dsn), "task"}
}

func (s *served) user(t *testing.T) *user {
	t.Helper()
	u := connect(t, postgres.DSN(s.name))
	if s == shared {
		s.program.says(t, `"leading"`, 3)
	}
	return u
}

// exec runs statements, all in one transaction.
func (u *user) exec(sql string) {
	u.Helper()
	servertest.Exec(u, u.conn, sql)
}

// refused runs statements that must fail with an SQLSTATE.
func (u *user) refused(sql, sqlstate string) {
	u.Helper()
	_, err := u.conn.Exec(u.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Code != sqlstate {
		u.Errorf("%s: got error %v, want SQLSTATE %s", sql, err, sqlstate)
	}
}

// values returns the first column as text; NULL is "NULL".
func (u *user) values(sql string, args ...any) []string {
	u.Helper()
	return servertest.Values(u, u.conn, sql, args...)
}

func (u *user) value(sql string, args ...any) string {
	u.Helper()
	values := u.values(sql, args...)
	if len(values) != 1 {
		u.Fatalf("%s: got %d rows", sql, len(values))
	}
	return values[0]
}

// is compares the value of an expression or query.
func (u *user) is(sql, want string, args ...any) {
	u.Helper()
	if !strings.HasPrefix(sql, "SELECT") {
		sql = "SELECT " + sql
	}
	if got := u.value(sql, args...); got != want {
		u.Errorf("%s: got %q, want %q", sql, got, want)
	}
}

// add inserts a task, with columns and values as in SQL, and returns its id. Its lane is the test's
// unless they name another.
func (u *user) add(columns, values string) (id string) {
	u.Helper()
	if !strings.Contains(columns, `"group"`) {
		columns, values = columns+`, "group"`, values+", "+group(u.T)
	}
	return u.value("INSERT INTO " + u.table + " (" + columns + ") VALUES (" + values + ") RETURNING id")
}

// task returns a row; nil if there is none.
func (u *user) task(id string) task {
	u.Helper()
	return task(tasktest.Table{T: u, Conn: u.conn, Name: u.table}.Row(id))
}

// until waits until an SQL condition holds.
func (u *user) until(condition string, args ...any) {
	u.Helper()
	u.within(patience, condition, args...)
}

// within is until with another limit.
func (u *user) within(limit time.Duration, condition string, args ...any) {
	u.Helper()
	servertest.Wait(u, limit, condition, func() bool {
		return u.value("SELECT coalesce(("+condition+")::bool, false)", args...) == "t"
	}, u.dump)
}

// dump returns the rows of a small table, to find what went wrong.
func (u *user) dump() string {
	u.Helper()
	if u.value("SELECT current_database()") == shared.name {
		return "many tasks"
	}
	return strings.Join(u.values("SELECT to_jsonb(t) - 'input' FROM "+u.table+" AS t ORDER BY id LIMIT 20"), "\n")
}

// gone waits for the end of a backend whose client is gone. A backend that does not notice that
// while a statement runs is ended.
func (u *user) gone(pid string) {
	u.Helper()
	if !major.ClientCheck.Of(u.conn) {
		u.exec("SELECT pg_terminate_backend(" + pid + ")")
	}
	u.until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active')", pid)
}

// prompt checks something that must be quick. A busy machine may be slower now and then, so one of
// three tries is enough.
func prompt(t *testing.T, done func(try int) bool) {
	t.Helper()
	for try := range 3 {
		if done(try) {
			return
		}
	}
	t.Error("it takes too long, time and again")
}

// becomes waits until the task has a state, and returns its row. It fails at once if the task ends
// in another state.
func (u *user) becomes(id, state string) (row task) {
	u.Helper()
	servertest.Wait(u, patience, "task "+id+" to become "+state, func() bool {
		row = u.task(id)
		switch got := row.text("state"); {
		case row == nil:
			u.Fatalf("task %s is gone, want %s", id, state)
		case got == state:
			return true
		case got == "DONE", got == "FAIL", got == "GONE":
			u.Fatalf("task %s is %s, want %s; error: %s", id, got, state, row.text("error"))
		}
		return false
	}, func() string { return "it is " + row.text("state") + "; error: " + row.text("error") })
	return row
}

// text returns a column's value, "NULL" for NULL.
func (t task) text(column string) string { return servertest.Row(t).Text(column) }

// shows compares columns, given as pairs of name and value.
func (u *user) shows(row task, pairs ...string) {
	u.Helper()
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if got := row.text(pairs[0]); got != pairs[1] {
			u.Errorf("task %s: %s is %q, want %q", row.text("id"), pairs[0], got, pairs[1])
		}
	}
}
