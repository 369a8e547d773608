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
	if d, err := Describe(t.Context(), conn, task); err != nil || d.Group != 0 || !strings.Contains(strings.Join(d.Without, " "), "does not limit groups: a dump has brought") {
		t.Errorf("group %d: %s, %v", d.Group, d.Without, err)
	}
	execute(t, other, "SET SESSION AUTHORIZATION "+role+"; BEGIN; LOCK TABLE "+Register(task)+", task_leader IN ACCESS SHARE MODE")
	if _, err := Install(t.Context(), conn, task, Options{}); err != nil {
		t.Log(err)
	}
	unused()
	equal(t, "rights", servertest.Get(t, conn, "SELECT has_table_privilege($1, $2, 'TRIGGER, INSERT, DELETE') OR has_table_privilege($1, 'task_leader', 'TRIGGER, INSERT, DELETE')", role, Register(task)), "false")
	execute(t, other, "COMMIT")
	install(t, conn, task, nil)
	complete(t, conn, task, nil)
	if d, err := Describe(t.Context(), conn, task); err != nil || d.Register == 0 || d.Leader == 0 || d.Group == 0 {
		t.Errorf("register %d, leader %d, group %d: %v", d.Register, d.Leader, d.Group, err)
	}
}

// TestASealOfAnotherServerIsNone: the number alone may be the same there.
func TestASealOfAnotherServerIsNone(t *testing.T) {
	t.Parallel()
	for way, makes := range makers {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			conn := database(t)
			role := stranger(t, conn, "app")
			makes(t, conn, task)
			execute(t, conn, "GRANT EXECUTE ON FUNCTION task_async() TO "+role+"; GRANT INSERT ON task_leader, task_group, "+Register(task)+" TO "+role+"; "+
				"DO $$DECLARE o record; BEGIN FOR o IN SELECT 'TABLE' AS kind, r AS name, obj_description(r::regclass) AS text FROM unnest(ARRAY["+literal(Register(task))+", 'task_leader', 'task_group']) AS r "+
				"UNION ALL SELECT 'FUNCTION', 'task_async()', obj_description('task_async()'::regprocedure) LOOP "+
				"EXECUTE format('COMMENT ON %s %s IS %L', o.kind, o.name, regexp_replace(o.text, '#[0-9]+-', '#1-')); END LOOP; END$$")
			makes(t, conn, task)
			equal(t, "rights", servertest.Get(t, conn, "SELECT string_agg(has_table_privilege($1, r, 'INSERT')::text, ' ') || ' ' || has_function_privilege($1, 'task_async()', 'EXECUTE') FROM unnest(ARRAY[$2, 'task_leader', 'task_group']) AS r", role, Register(task)), "false false false false")
			complete(t, conn, task, nil)
		})
	}
}

// TestAFunctionOfAnotherBuildIsMadeAgain, where a dump has brought it without its comment.
func TestAFunctionOfAnotherBuildIsMadeAgain(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "DO $$BEGIN EXECUTE replace(pg_get_functiondef('task_async()'::regprocedure), 'BEGIN', 'BEGIN '); END$$; "+
		"COMMENT ON FUNCTION task_async() IS NULL; GRANT EXECUTE ON FUNCTION task_async() TO PUBLIC")
	install(t, conn, task, nil)
	equal(t, "open to all", value(t, conn, "SELECT has_function_privilege('public', 'task_async()', 'EXECUTE')"), "false")
	complete(t, conn, task, nil)
}

// TestTheRegisterOfAnEarlierVersionKeepsItsRows: they are those of a leader that may still live.
func TestTheRegisterOfAnEarlierVersionKeepsItsRows(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for ending, rows := range map[string]string{"": "1", " #1-1": "0"} {
		execute(t, conn, "DELETE FROM "+Register(task)+"; INSERT INTO "+Register(task)+" VALUES (1, now()); "+
			"DO $$BEGIN EXECUTE format('COMMENT ON TABLE %s IS %L', "+literal(Register(task))+", regexp_replace(obj_description("+literal(Register(task))+"::regclass), ' #.*', '"+ending+"')); END$$")
		install(t, conn, task, nil)
		equal(t, "rows, with the ending"+ending, value(t, conn, "SELECT count(*) FROM "+Register(task)), rows)
		complete(t, conn, task, nil)
	}
}
