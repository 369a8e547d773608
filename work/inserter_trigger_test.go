package work

import (
	"strings"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// TestAChildIsGuardedToo: a child does not inherit the trigger that records who inserts a task, and
// its rows run with those of the table.
func TestAChildIsGuardedToo(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.drain()
	c.must(c.serving, "CREATE TABLE child () INHERITS (task); GRANT INSERT ON child TO $bob")
	const refused = "table public.child is below the table, and its own trigger pgtaskd_role is missing or not enabled always"
	const below = " ON child FOR EACH ROW EXECUTE FUNCTION pgtaskd_role('$serving')"
	c.must(c.serving, "CREATE TRIGGER pgtaskd_role BEFORE INSERT"+below) // neither for UPDATE, nor enabled always
	c.refuses(refused, "SET ROLE $serving; DROP TRIGGER pgtaskd_role ON child; CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE"+below+"; ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.must(c.bob, "INSERT INTO child (input, role, plan) VALUES ('SELECT session_user', '$serving', 'infinity')")
	if role := c.get("SELECT role FROM child"); role != c.bob {
		t.Errorf("its role is %s", role)
	}
	c.stops(strings.Replace(refused, "child", "later", 1), "CREATE TABLE later () INHERITS (task)", "DROP TABLE later")
	c.stops(refused, "ALTER TABLE child DISABLE TRIGGER pgtaskd_role", "ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.stops(refused, "ALTER TABLE child ENABLE TRIGGER pgtaskd_role", "ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.stops("table public.task has a column role and no trigger that guards it", "DROP TRIGGER pgtaskd_role ON task", guards)
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
}

// TestAColumnRoleWithoutItsTriggerIsNotBelieved: any role that may write the column could have
// chosen its value, whether the column is the user's own or ours.
func TestAColumnRoleWithoutItsTriggerIsNotBelieved(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.drain()
	const refused = "table public.task has a column role and no trigger that guards it"
	c.must(c.serving, "DROP TRIGGER pgtaskd_role ON task")
	c.must(c.alice, "INSERT INTO task (input, role, plan) VALUES ('SELECT session_user', '$bob', 'infinity')")
	c.refuses(refused, "SET ROLE $serving; "+guards)
	c.eventually("1", "SELECT count(*) FROM pg_trigger WHERE tgname = 'pgtaskd_role'")
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
	c.must(c.serving, "ALTER TABLE task DISABLE TRIGGER pgtaskd_role")
	c.must(c.alice, "INSERT INTO task (input, role, data) VALUES ('SELECT session_user', '$bob', 'forged')")
	c.must(c.serving, "ALTER TABLE task ENABLE TRIGGER pgtaskd_role") // not enabled always: only a person does that
	c.says("target failed", refused)
	c.must(c.serving, "UPDATE task SET role = '$alice' WHERE data = 'forged'; ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.eventually(c.alice, "SELECT output FROM task WHERE data = 'forged'")

	c.drain()
	c.must(c.serving, "DROP FUNCTION pgtaskd_role CASCADE; ALTER TABLE task DROP COLUMN role, ADD COLUMN role text")
	c.exec(c.named("INSERT INTO task (input, role) VALUES ('SELECT session_user', '$alice')"))
	c.refuses(refused, "SET ROLE $serving; ALTER TABLE task RENAME role TO whose")
	c.eventually(c.serving, "SELECT to_jsonb(t) ->> 'role' FROM task AS t WHERE whose = $1", c.alice)
	c.eventually("1", "SELECT count(*) FROM task WHERE output = $1", c.serving)
}

// TestNothingIsReadThatItsTriggerMayNotHaveSeen: not even a task that is read alone and for whose
// role a session lies ready.
func TestNothingIsReadThatItsTriggerMayNotHaveSeen(t *testing.T) {
	t.Parallel()
	c := employed(t)
	for range 3 {
		c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
		c.asleep()
		c.stops("table public.task has a column role and no trigger that guards it",
			"BEGIN; ALTER TABLE task DISABLE TRIGGER pgtaskd_role; INSERT INTO task (input, role, data) VALUES ('SELECT session_user', '$alice', 'forged'); COMMIT",
			"BEGIN; DELETE FROM task WHERE data = 'forged' AND state = 'PLAN'; ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role; COMMIT")
		if state := c.get("SELECT coalesce(string_agg(state::text, ' '), '') FROM task WHERE data = 'forged'"); state != "" {
			t.Fatal("a forged task is ", state)
		}
	}
}

// TestPartitionsAreGuardedToo: even against direct writes, and whenever a partition was made.
func TestPartitionsAreGuardedToo(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
	replica := ""
	c := founded(t, func(c *company) {
		c.must("postgres", `CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan);
			CREATE TABLE early PARTITION OF task FOR VALUES FROM ('2020-01-01') TO ('2021-01-01'); ALTER TABLE task OWNER TO $serving; ALTER TABLE early OWNER TO $serving`)
		replica = c.replicates("$bob")
	})
	c.serve()
	c.settled()
	c.must("postgres", `CREATE TABLE late (LIKE task INCLUDING ALL); ALTER TABLE late OWNER TO $serving; ALTER TABLE task ATTACH PARTITION late DEFAULT;
		GRANT SELECT, INSERT, UPDATE ON task, early, late TO $alice, $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $alice, $bob`)
	for _, before := range []string{"", replica} {
		for _, table := range []string{"task", "early", "late"} {
			insert := before + "INSERT INTO " + table + ` (plan, state, input, role) VALUES (CASE '` + table + `' WHEN 'early' THEN '2020-02-01' ELSE now() END, 'STOP', 'SELECT 1', `
			if err := c.does(c.bob, insert+"'$alice')"); !fault.IsDenied(err) {
				t.Errorf("%s: %v", insert, err)
			}
			c.must(c.bob, insert+"NULL)")
		}
	}
	if roles := c.get("SELECT string_agg(DISTINCT role, ' ') || count(*) FROM task"); roles != c.bob+"6" {
		t.Errorf("their roles are %s", roles)
	}
	for _, table := range []string{"early", "late"} {
		if err := c.does(c.alice, "UPDATE "+table+" SET input = 'SELECT 2'"); !fault.IsDenied(err) {
			t.Errorf("%s: %v", table, err)
		}
	}
	id := c.asks(c.alice, "SELECT session_user")
	c.becomes(id, "DONE")
	if who := c.get("SELECT output FROM task WHERE id = $1", id); who != c.alice {
		t.Error("it runs as ", who)
	}
	for _, off := range []string{"DISABLE", "ENABLE", "ENABLE REPLICA"} {
		c.stops("table public.early is below the table, and its own trigger pgtaskd_role is missing or not enabled always",
			"ALTER TABLE early "+off+" TRIGGER pgtaskd_role", "ALTER TABLE early ENABLE ALWAYS TRIGGER pgtaskd_role")
	}
	// ALTER TRIGGER does this before 15.
	c.must("postgres", "UPDATE pg_trigger SET tgname = 'another' WHERE tgrelid = 'early'::regclass AND tgname = 'pgtaskd_role'")
	c.drain()
	c.refuses("table public.early is below the table, and its own trigger pgtaskd_role is missing or not enabled always",
		"UPDATE pg_trigger SET tgname = 'pgtaskd_role' WHERE tgrelid = 'early'::regclass AND tgname = 'another'")
}
