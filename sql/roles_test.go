package sql

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

// employ makes what it lacks.
func employ(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	if _, err := Install(t.Context(), conn, task, Options{Inserter: true, Serving: "postgres"}); err != nil {
		t.Fatal(err)
	}
	lacks(t, conn, "")
}

// TestRoleHasADefault, so that the serving role's own tasks have one, even if somebody drops it.
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

// TestRoleIsBelievedOnce: the comment that says so is gone with the first look at a table that has
// the trigger, whoever has made it. A person's own comment stays, and none is made where one is gone.
func TestRoleIsBelievedOnce(t *testing.T) {
	t.Parallel()
	conn := database(t)
	employ(t, conn)
	comment := func(want string) {
		t.Helper()
		equal(t, "comment", value(t, conn, "SELECT coalesce(col_description('task'::regclass, attnum), '') FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'role'"), want)
	}
	const ours = "Who inserted the task, and under whom it runs"
	comment(ours)
	execute(t, conn, "COMMENT ON COLUMN task.role IS 'believed'")
	lacks(t, conn, "comment on column role")
	employ(t, conn)
	comment(ours)
	execute(t, conn, "COMMENT ON COLUMN task.role IS 'mine'")
	lacks(t, conn, "")
	execute(t, conn, "COMMENT ON COLUMN task.role IS NULL")
	lacks(t, conn, "")

	// It is needed as long as that does not guard each row.
	const when, of = "BEFORE INSERT OR UPDATE ON task FOR EACH ROW WHEN (NEW.id > 0)", "BEFORE INSERT OR UPDATE OF input ON task FOR EACH ROW"
	for _, odd := range []string{when, of, "BEFORE INSERT ON task FOR EACH ROW"} {
		execute(t, conn, "DROP TRIGGER pgtaskd_role ON task; CREATE TRIGGER pgtaskd_role "+odd+" EXECUTE FUNCTION pgtaskd_role('postgres')"+
			"; ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role; COMMENT ON COLUMN task.role IS 'believed'")
		lacks(t, conn, "trigger pgtaskd_role, comment on column role")
		employ(t, conn)
		comment(ours)
	}
}

// TestATableOfALaterPgtaskdIsGuardedToo.
func TestATableOfALaterPgtaskdIsGuardedToo(t *testing.T) {
	t.Parallel()
	conn := database(t)
	employ(t, conn)
	execute(t, conn, "COMMENT ON TABLE task IS 'Later (pgtaskd schema 999)'; DROP TRIGGER pgtaskd_role ON task; COMMENT ON COLUMN task.role IS 'believed'")
	lacks(t, conn, "trigger pgtaskd_role, comment on column role")
	employ(t, conn)
}
