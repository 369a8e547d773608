package schema

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// lacks fails the test unless the table, whose tasks run under the roles that insert them, lacks
// this.
func lacks(t *testing.T, conn *pgx.Conn, want string) {
	t.Helper()
	changes, err := Missing(t.Context(), conn, task, Options{Inserter: true, Serving: "postgres"})
	if err != nil {
		t.Fatal(err)
	}
	var what []string
	for _, change := range changes {
		if change.Optional {
			change.What += " (optional)"
		}
		what = append(what, change.What)
	}
	equal(t, "what the table lacks", strings.Join(what, ", "), want)
}

// employ makes what the table lacks.
func employ(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	if _, err := Install(t.Context(), conn, task, Options{Inserter: true, Serving: "postgres"}); err != nil {
		t.Fatal(err)
	}
	lacks(t, conn, "")
}

// TestRoleHasADefault, even if somebody drops it: the serving role's own tasks need it.
func TestRoleHasADefault(t *testing.T) {
	t.Parallel()
	conn := database(t)
	employ(t, conn)
	inserts := func(want string) {
		t.Helper()
		execute(t, conn, "INSERT INTO task (input) VALUES ('')")
		equal(t, "role", value(t, conn, "SELECT coalesce(role, '') FROM task ORDER BY id DESC LIMIT 1"), want)
	}
	inserts("postgres")
	execute(t, conn, "ALTER TABLE task ALTER role DROP DEFAULT")
	inserts("")
	lacks(t, conn, "default of column role")
	employ(t, conn)
	inserts("postgres")
	execute(t, conn, "ALTER TABLE task ALTER role SET DEFAULT 'app'")
	lacks(t, conn, "")
	inserts("app")
}

// TestATableOfALaterPgtaskdIsGuardedToo.
func TestATableOfALaterPgtaskdIsGuardedToo(t *testing.T) {
	t.Parallel()
	conn := database(t)
	install(t, conn, task, nil)
	execute(t, conn, "COMMENT ON TABLE task IS 'Later (pgtaskd schema 999)'")
	employ(t, conn)
	equal(t, "triggers", value(t, conn, "SELECT count(*) FROM pg_trigger WHERE tgname = 'pgtaskd_role'"), "1")
	execute(t, conn, "COMMENT ON TRIGGER pgtaskd_role ON task IS 'Old (pgtaskd schema 1 00000000)'")
	lacks(t, conn, "trigger pgtaskd_role (optional)")
	employ(t, conn)
}
