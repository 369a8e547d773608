package lock

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var task = sql.Table{Schema: "public", Name: "task"}

// TestLock: one session has the lock, or several share it. Holder names the session or prepared
// transaction that has it.
func TestLock(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, other := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
	takes := func(k Lock, want bool) {
		t.Helper()
		if has, err := k.Take(t.Context(), conn); err != nil || has != want {
			t.Errorf("has it: %t, %v", has, err)
		}
	}
	k := Leadership(task, false)
	held := func(want string) {
		t.Helper()
		h, err := k.Holder(t.Context(), conn)
		if err != nil || (h == nil) != (want == "") || h != nil && !strings.Contains(h.Text, want) {
			t.Errorf("%v, %v, not %q", h, err, want)
		}
	}
	held("")
	takes(k, true)
	held("") // nobody but us
	servertest.Exec(t, conn, "SELECT pg_advisory_unlock_all()")
	class, number := k.numbers()
	servertest.Exec(t, other, fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", class, number))
	takes(k, false)
	held(fmt.Sprintf(": SELECT pg_terminate_backend(%d)", other.PgConn().PID()))
	servertest.Exec(t, other, fmt.Sprintf("SELECT pg_advisory_unlock_all(), pg_advisory_lock_shared(%d, %d)", class, number))
	takes(k, false)
	takes(Leadership(task, true), true)
	servertest.Exec(t, conn, "SELECT pg_advisory_unlock_all()")
	name := "pre " + conn.Config().Database
	servertest.Exec(t, other, fmt.Sprintf("SELECT pg_advisory_unlock_all(); BEGIN; SELECT pg_advisory_xact_lock(%d, %d); PREPARE TRANSACTION '%s'", class, number, name))
	takes(k, false)
	held(": ROLLBACK PREPARED '" + name + "'")
	servertest.Exec(t, other, "ROLLBACK PREPARED '"+name+"'")
	takes(k, true)
}

// TestTheNameOfASessionIsNoRemedy: anybody who can connect chooses that name, and it is shown next
// to a statement that a person may run.
func TestTheNameOfASessionIsNoRemedy(t *testing.T) {
	t.Parallel()
	dsn := servertest.Database(t)
	conn, holder := servertest.Connect(t, dsn), servertest.Connect(t, dsn)
	servertest.Exec(t, conn, "CREATE TABLE task ()")
	servertest.Exec(t, holder, "SET application_name = 'x''): DROP TABLE task --'; BEGIN; SELECT FROM task")
	const quoted = "('x''): DROP TABLE task --')"
	lines, err := Holders(t.Context(), conn, task, false)
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], quoted) {
		t.Errorf("got %q, %v", lines, err)
	}
}
