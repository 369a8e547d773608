package sql

import (
	"strings"
	"testing"

	"pgtaskd/server/servertest"
)

// TestWhatStrangersPutBesideTheTableIsNoReasonToLook again at it, though it has a name of ours; that
// which was in the way and goes is one.
func TestWhatStrangersPutBesideTheTableIsNoReasonToLook(t *testing.T) {
	t.Parallel()
	conn := database(t)
	role := stranger(t, conn, "app")
	install(t, conn, task, nil)
	execute(t, conn, "DROP FUNCTION task_why(int8); DROP VIEW task_run; DROP TABLE task_leader; GRANT CREATE ON SCHEMA public TO "+role+"; GRANT CREATE ON DATABASE "+value(t, conn, "current_database()")+" TO "+role)
	serving := value(t, conn, "SELECT rolname FROM pg_roles WHERE rolname = current_user")
	look := func(d Description) string {
		t.Helper()
		return servertest.Get(t, conn, "SELECT c FROM ("+d.Queries(task).Text("columns")+") AS c (c, r, f, q)", task.Schema, task.Name)
	}
	described := func() Description {
		t.Helper()
		d, err := Describe(t.Context(), conn, task)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	theirs := func(sql string) {
		t.Helper()
		execute(t, conn, "SET SESSION AUTHORIZATION "+role+"; "+sql+"; RESET SESSION AUTHORIZATION")
	}
	for _, c := range []struct{ makes, changes, drops string }{
		{"CREATE PUBLICATION $p", "ALTER PUBLICATION $p SET (publish = 'delete')", "DROP PUBLICATION $p"},
		{"CREATE FUNCTION task_leader() RETURNS int LANGUAGE sql AS 'SELECT 1'", "ALTER FUNCTION task_leader() COST 7", "DROP FUNCTION task_leader()"},
		{"CREATE FUNCTION task_why(int8) RETURNS int LANGUAGE sql AS 'SELECT 1'", "ALTER FUNCTION task_why(int8) COST 7", "DROP FUNCTION task_why(int8)"},
		{"CREATE TABLE task_leader ()", "GRANT SELECT ON task_leader TO PUBLIC", "DROP TABLE task_leader"},
		{"CREATE VIEW task_run AS SELECT 1", "GRANT SELECT ON task_run TO PUBLIC", "DROP VIEW task_run"},
	} {
		named := strings.NewReplacer("$p", Publication(task)).Replace
		d := described()
		before := look(d)
		theirs(named(c.makes))
		equal(t, named(c.makes), look(d), before)
		theirs(named(c.drops))
		equal(t, named(c.drops), look(d), before)

		theirs(named(c.makes))
		d = described() // for another reason
		before = look(d)
		if !strings.Contains(c.makes, "PUBLICATION") {
			theirs(named(c.changes))
			equal(t, named(c.changes), look(d), before)
		}
		theirs(named(c.drops))
		if look(d) == before && !strings.Contains(c.makes, "task_leader()") {
			t.Errorf("%s is not noticed", named(c.drops))
		}
	}
	d := described()
	before := look(d)
	execute(t, conn, "CREATE TABLE task_leader (); ALTER TABLE task_leader OWNER TO "+serving)
	if look(d) == before {
		t.Error("what the serving role puts there is not noticed")
	}
}
