package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// TestTasksOfOthersAreGuarded: a role that is no member of a task's role cannot change what the
// task does, whichever way it writes the row.
func TestTasksOfOthersAreGuarded(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.exec(c.named("GRANT TEMPORARY ON DATABASE $database TO $bob"))
	replica := c.replicates("$bob")
	id := c.asks(c.alice, "SELECT 1", "plan", "'infinity'", "data", "'mine'")
	for _, change := range []string{
		"input = 'SELECT 2'", "data = 'yours'", "data = NULL", `settings = '{"work_mem": "1MB"}'`, "remote = 'x'", "plan = now()", "role = '$bob'", "role = NULL", "stop = now()",
		"repeat = '1 s', drift = true", "cron = '* * * * *'", "on_fail = 'SELECT 2'", "until = now()",
		"state = 'DONE'", "state = 'FAIL', error = 'forged'", "state = 'GONE'", "output = 'forged'", "error = 'forged'", "sqlstate = '00000'", "notice = 'forged'", "runs = '[]'",
		"id = -id", "key = 'taken'", "author = 'forged'", "created = now()", "parent = 1", "next = 1", "start = now()", "pid = 1", "attempt = 1", "interrupted = 1",
		"after = '{}'", "awaits = 1", "freed = now()", "base = now()", "origin = now()", "stopping = true, state = 'STOP'", "retry = 5", "rerun = NOT rerun", "overlap = true", "save = true",
		`"delete" = NOT "delete"`, "notify = 'x'", "backoff = '1 s'", "owner = 'x'", "failures = 1", "max_failures = 1", "catchup = 1", "skipped = 1", "header = NOT header", `"null" = 'x'`,
	} {
		for _, before := range []string{"", replica, "SET search_path = pg_temp, public; SET extra_float_digits = -15; "} {
			if err := c.does(c.bob, before+fmt.Sprintf("UPDATE public.task SET %s WHERE id = %d", change, id)); !fault.IsDenied(err) {
				t.Errorf("%s%s: %v", before, change, err)
			}
		}
	}
	stopped := c.asks(c.alice, "SELECT 3", "plan", "'infinity'")
	c.must(c.bob, fmt.Sprintf("UPDATE task SET state = 'STOP' WHERE id = %d", stopped))
	ended := c.asks(c.alice, "SELECT 1")
	c.becomes(ended, "DONE")
	for _, change := range []string{"output = 'forged'", "id = -id", "state = 'FAIL'", "runs = '[]'"} {
		if err := c.does(c.bob, fmt.Sprintf("UPDATE task SET %s WHERE id = %d", change, ended)); !fault.IsDenied(err) {
			t.Errorf("of an ended task, %s: %v", change, err)
		}
	}
	if err := c.does(c.bob, fmt.Sprintf("UPDATE task SET state = 'PLAN' WHERE id = %d", ended)); !fault.IsDenied(err) {
		t.Errorf("bob runs a task of alice's again: %v", err)
	}
	if err := c.does(c.bob, fmt.Sprintf("UPDATE task SET stop = NULL WHERE id = %d", ended)); !fault.IsDenied(err) {
		t.Errorf("bob makes a task of alice's look as if it had not ended: %v", err)
	}
	c.must(c.alice, fmt.Sprintf("UPDATE task SET state = 'PLAN' WHERE id = %d", ended))
	c.must(c.bob, fmt.Sprintf(`UPDATE task SET "group" = 'other', input = input, timeout = '1 min' WHERE id = %d`, id))
	c.must(c.alice, fmt.Sprintf("UPDATE task SET input = 'SELECT 3' WHERE id = %d", id))
	if err := c.does(c.alice, fmt.Sprintf("UPDATE task SET role = '$bob' WHERE id = %d", id)); !fault.IsDenied(err) {
		t.Error("alice gives a task to bob: ", err)
	}
	c.exec(c.named("GRANT $bob TO $alice"))
	c.must(c.alice, fmt.Sprintf("UPDATE task SET role = '$bob', data = 'given' WHERE id = %d", id))
	c.exec(c.named(`CREATE FUNCTION definer() RETURNS void LANGUAGE sql SECURITY DEFINER AS $$INSERT INTO public.task (input, plan, role) VALUES ('definer', 'infinity', '$alice')$$;
		ALTER FUNCTION definer() OWNER TO $bob`))
	c.must(c.bob, "INSERT INTO task (input, plan, role) VALUES ('insert', 'infinity', '$alice')")
	c.must(c.bob, replica+"INSERT INTO task (input, plan, role) VALUES ('replica', 'infinity', '$alice')")
	c.must(c.alice, "SELECT definer()")
	c.must(c.bob, `CREATE FUNCTION adds() RETURNS int LANGUAGE sql AS $f$INSERT INTO public.task (input, plan) VALUES ('index', 'infinity') RETURNING 1$f$;
		CREATE FUNCTION f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $f$BEGIN RETURN public.adds(); END$f$;
		CREATE TABLE t (a int); INSERT INTO t VALUES (1); CREATE INDEX ON t (f(a))`)
	c.exec("DELETE FROM task WHERE input = 'index'; ANALYZE t; REINDEX TABLE t")
	if roles := c.get("SELECT string_agg(DISTINCT role, ' ') FROM task WHERE plan = 'infinity' AND input <> 'SELECT 3'"); roles != c.bob {
		t.Errorf("tasks of bob's have the roles %s", roles)
	}
	for _, sql := range []string{
		"ALTER TABLE task DISABLE TRIGGER pgtaskd_role", "DROP TRIGGER pgtaskd_role ON task", "INSERT INTO task (input, role) VALUES ('x', '$serving') ON CONFLICT (id) DO UPDATE SET role = 'x'",
	} {
		if err := c.does(c.bob, sql); err == nil && !strings.HasPrefix(sql, "INSERT") {
			t.Errorf("bob may %s", sql)
		}
	}
}

// TestWhoMayNotBecomeARoleDoesNotChangeItsTasks: tasks run in a session of that role, with rights
// that membership does not give: its attributes, the roles that only it may become, and objects
// that it creates. Nor does pgtaskd log in as a role that the serving role may not become.
func TestWhoMayNotBecomeARoleDoesNotChangeItsTasks(t *testing.T) {
	t.Parallel()
	c := employed(t)
	bobs := c.asks(c.bob, "SELECT session_user", "plan", "'infinity'")
	alices := c.asks(c.alice, "SELECT session_user", "plan", "'infinity'")
	memberships := map[string]bool{"": true}
	if major.MemberOptions.Of(c.conn) {
		memberships = map[string]bool{
			"": true, " WITH INHERIT FALSE, SET TRUE": true, " WITH INHERIT TRUE, SET FALSE": false, " WITH INHERIT FALSE, SET FALSE": false,
		}
	}
	for with, may := range memberships {
		c.exec(c.named("GRANT $bob TO $alice" + with + "; GRANT $bob TO $serving" + with))
		if err := c.does(c.alice, "SET ROLE $bob"); (err == nil) != may {
			t.Fatalf("alice becomes bob%s: %v", with, err)
		}
		for _, change := range []string{
			fmt.Sprintf("UPDATE task SET input = input || ' ' WHERE id = %d", bobs),
			fmt.Sprintf("BEGIN; UPDATE task SET role = '$bob' WHERE id = %d; ROLLBACK", alices),
		} {
			if err := c.does(c.alice, change); (err == nil) != may || !may && !fault.IsDenied(err) {
				t.Errorf("as a member%s, %s: %v", with, change, err)
			}
		}
		c.becomes(c.asks(c.bob, "SELECT session_user"), map[bool]string{true: "DONE", false: "FAIL"}[may])
		c.exec(c.named("REVOKE $bob FROM $alice; REVOKE $bob FROM $serving"))
	}
}

// TestNobodyTakesATaskByMovingIt: an UPDATE that moves a row is an INSERT in the other partition.
func TestNobodyTakesATaskByMovingIt(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
	c := founded(t, func(c *company) {
		c.must("postgres", `CREATE TABLE task (id bigserial, "group" text NOT NULL DEFAULT 'group', input text NOT NULL) PARTITION BY LIST ("group");
			CREATE TABLE vip PARTITION OF task FOR VALUES IN ('vip'); CREATE TABLE rest PARTITION OF task DEFAULT;
			ALTER TABLE task OWNER TO $serving; ALTER TABLE vip OWNER TO $serving; ALTER TABLE rest OWNER TO $serving`)
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE ON task TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob"))
	id := c.asks(c.alice, "SELECT 1", "plan", "'infinity'")
	if err := c.does(c.bob, "UPDATE task SET \"group\" = 'vip'"); !fault.IsDenied(err) {
		t.Errorf("bob moves a task of alice's: %v", err)
	}
	c.must(c.alice, "UPDATE task SET \"group\" = 'vip'")
	if role := c.get("SELECT role FROM task WHERE id = $1", id); role != c.alice {
		t.Error("it belongs to ", role)
	}
	id = c.asks(c.serving, "SELECT 1", "role", "NULL", "plan", "'infinity'")
	if err := c.does(c.alice, "UPDATE task SET \"group\" = 'vip' WHERE role IS NULL"); !fault.IsDenied(err) {
		t.Errorf("alice moves a task of nobody's: %v", err)
	}
	if role := c.get("SELECT coalesce(role, 'nobody') FROM task WHERE id = $1", id); role != "nobody" {
		t.Error("it belongs to ", role)
	}
}
