package sql

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// brought is a database to which a dump without rights has brought a table, and where default
// privileges have given those that stand beside it to a role.
func brought(t *testing.T) (dsn, role string) {
	t.Helper()
	from := database(t)
	install(t, from, task, nil)
	dsn = servertest.Database(t)
	to := connect(t, dsn)
	role = stranger(t, to, "app")
	execute(t, to, "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO "+role)
	restore(t, from, to, "--no-owner", "--no-acl")
	execute(t, to, "CREATE SCHEMA app AUTHORIZATION "+role+"; SET SESSION AUTHORIZATION "+role+"; "+
		"CREATE FUNCTION app.evil() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''evil runs as %'', current_user; END'; "+
		"CREATE TRIGGER first BEFORE DELETE ON "+Register(task)+" FOR EACH STATEMENT EXECUTE FUNCTION app.evil(); RESET SESSION AUTHORIZATION")
	return dsn, role
}

// TestATriggerThatIsNotCommittedYetDoesNotFire when the table is made again.
func TestATriggerThatIsNotCommittedYetDoesNotFire(t *testing.T) {
	t.Parallel()
	dsn, role := brought(t)
	conn, other, watcher := connect(t, dsn), connect(t, dsn), connect(t, dsn)
	execute(t, other, "SET SESSION AUTHORIZATION "+role+"; BEGIN; "+
		"CREATE TRIGGER evil BEFORE DELETE ON "+Register(task)+" FOR EACH STATEMENT EXECUTE FUNCTION app.evil()")
	committed := make(chan error, 1)
	go func() {
		for waits := false; !waits; {
			err := watcher.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted)", Register(task)).Scan(&waits)
			if err != nil {
				committed <- err
				return
			}
		}
		_, err := other.Exec(t.Context(), "COMMIT")
		committed <- err
	}()
	install(t, conn, task, nil)
	if err := <-committed; err != nil {
		t.Fatal(err)
	}
	equal(t, "triggers", servertest.Get(t, conn, "SELECT coalesce(string_agg(tgname, ' '), '') FROM pg_trigger WHERE tgrelid = $1::regclass", Register(task)), "")
	complete(t, conn, task, nil)
}

// TestWhatADumpHasBroughtIsNotUsed until it is made again: others may have triggers there. Their
// rights go first, even where it cannot be made again, because they have locked it.
func TestWhatADumpHasBroughtIsNotUsed(t *testing.T) {
	t.Parallel()
	dsn, role := brought(t)
	conn, other := connect(t, dsn), connect(t, dsn)
	unused := func() {
		t.Helper()
		d, err := Describe(t.Context(), conn, task)
		if err != nil || d.Register != 0 || d.Leader != 0 || !strings.Contains(d.Unregistered, "a dump has brought") {
			t.Errorf("register %d, leader %d: %s, %v", d.Register, d.Leader, d.Unregistered, err)
		}
	}
	unused()
	execute(t, other, "SET SESSION AUTHORIZATION "+role+"; BEGIN; LOCK TABLE "+Register(task)+", task_leader IN ACCESS SHARE MODE")
	if _, err := Install(t.Context(), conn, task, Options{}); err != nil {
		t.Log(err)
	}
	unused()
	equal(t, "rights", servertest.Get(t, conn, "SELECT has_table_privilege($1, $2, 'TRIGGER, INSERT, DELETE') OR has_table_privilege($1, 'task_leader', 'TRIGGER, INSERT, DELETE')", role, Register(task)), "false")
	execute(t, other, "COMMIT")
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
}
