package work

import (
	"strings"
	"testing"

	"pgtaskd/sql"
)

// refuses fails the test unless the target is refused by check, the script and run with these
// words; it is served once what is in the way is mended.
func (c *company) refuses(want, mend string) {
	c.t.Helper()
	if faults := strings.Join(Check(c.t.Context(), c.target).Faults, "\n"); !strings.HasPrefix(faults, want) {
		c.t.Errorf("check complains %q", faults)
	}
	script := sql.DDL(table(c.target), sql.Options{Inserter: true, Serving: c.serving})
	if _, err := c.as(c.serving).PgConn().Exec(c.t.Context(), script).ReadAll(); !hasState(err, "55000") || !strings.Contains(err.Error(), want) {
		c.t.Errorf("the script says %v", err)
	}
	led := c.leads()
	c.serve()
	c.says(want)
	if c.leads() > led {
		c.t.Error("it is served")
	}
	c.must("postgres", mend)
	c.until("served", func() bool { return c.leads() > led })
}

// stops fails the test unless the target that is served is refused with these words once the serving
// role has done something, and served again when that is mended.
func (c *company) stops(want, do, mend string) {
	c.t.Helper()
	for range 2 { // the second is found after the look that follows on leading
		c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
	}
	said := strings.Count(c.logged(), want)
	c.must(c.serving, do)
	c.until("refused: "+do, func() bool { return strings.Count(c.logged(), want) > said })
	led := c.leads()
	c.must(c.serving, mend)
	c.until("served again", func() bool { return c.leads() > led })
}

// TestAChildIsGuardedToo: it does not inherit the trigger that writes down who inserts a task, and
// its rows run with those of the table.
func TestAChildIsGuardedToo(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.drain()
	c.must(c.serving, "CREATE TABLE child () INHERITS (task); GRANT INSERT ON child TO $bob")
	function := c.get("SELECT proname FROM pg_proc WHERE proname LIKE 'pgtaskd_role_%'")
	const refused = "table public.child is below the table, and its own trigger pgtaskd_role is missing or not enabled always"
	c.must(c.serving, "CREATE TRIGGER pgtaskd_role BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION "+function+"()") // not UPDATE, nor always
	c.refuses(refused, "SET ROLE $serving; DROP TRIGGER pgtaskd_role ON child; CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION "+
		function+"(); ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.must(c.bob, "INSERT INTO child (input, role, plan) VALUES ('SELECT session_user', '$serving', 'infinity')")
	if role := c.get("SELECT role FROM child"); role != c.bob {
		t.Errorf("its role is %s", role)
	}
	c.stops(strings.Replace(refused, "child", "later", 1), "CREATE TABLE later () INHERITS (task)", "DROP TABLE later")
	c.stops(refused, "ALTER TABLE child DISABLE TRIGGER pgtaskd_role", "ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.must(c.serving, "CREATE FUNCTION pgtaskd_role_other() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'")
	const own, other = "BEGIN; DROP TRIGGER pgtaskd_role ON child; CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE ON child FOR EACH ROW EXECUTE FUNCTION ", "(); ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role; COMMIT"
	c.stops(refused, own+"pgtaskd_role_other"+other, own+function+other)
	c.stops(refused, "ALTER TABLE child ENABLE TRIGGER pgtaskd_role", "ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.must(c.serving, strings.ReplaceAll(strings.Replace(c.get("SELECT pg_get_functiondef($1::regproc)", function), function, "pgtaskd_role_same", 1), "$function$", "$same$"))
	c.must(c.serving, own+"pgtaskd_role_same"+other) // as after a RENAME of the table
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
	c.stops("table public.task has a column role and no trigger that guards it", "DROP TRIGGER pgtaskd_role ON task", "COMMENT ON COLUMN task.role IS 'believed'")
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
}

// TestADeferredTriggerTakesNothingOfATask: from PostgreSQL 18 on it runs as the serving role, in the
// session of the task, which chooses the search_path. Before, it runs as the task's role.
func TestADeferredTriggerTakesNothingOfATask(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.drain()
	c.must(c.serving, `CREATE FUNCTION log_end() RETURNS void LANGUAGE sql AS 'SELECT';
		CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM log_end(); RETURN NULL; END$$;
		CREATE CONSTRAINT TRIGGER audit AFTER UPDATE ON task DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.state = 'DONE') EXECUTE FUNCTION audit()`)
	c.exec(c.named(`CREATE SCHEMA evil AUTHORIZATION $alice; SET ROLE $alice; CREATE TABLE evil.got (who text);
		CREATE FUNCTION evil.log_end() RETURNS void LANGUAGE plpgsql AS 'BEGIN INSERT INTO evil.got VALUES (current_user); END'; GRANT ALL ON SCHEMA evil TO PUBLIC; GRANT ALL ON evil.got TO PUBLIC;
		RESET ROLE; ALTER ROLE $alice SET search_path = evil, public`))
	if c.get("SELECT current_setting('server_version_num')::int4 >= 180000") == "true" {
		c.must(c.serving, "ALTER FUNCTION audit() SET search_path = public") // temporary tables come first
		const refused, fixed = "trigger audit of table public.task may be deferred to the COMMIT", "ALTER FUNCTION audit() SET search_path = public, pg_temp"
		c.refuses(refused, "SET ROLE $serving; "+fixed)
		c.stops(refused, "ALTER FUNCTION audit() RESET search_path", fixed)
		c.must(c.serving, "CREATE TABLE child () INHERITS (task); DO $$BEGIN EXECUTE replace((SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'pgtaskd_role'), 'public.task ', 'child '); END$$; "+
			"ALTER TABLE child ENABLE ALWAYS TRIGGER pgtaskd_role; CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'")
		c.stops(strings.NewReplacer("audit", "later", "task", "child").Replace(refused),
			"CREATE CONSTRAINT TRIGGER later AFTER UPDATE ON child DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION later()", "DROP TRIGGER later ON child")
	} else {
		c.serve()
		c.settled()
	}
	c.becomes(c.asks(c.alice, "CREATE TABLE evil.made ()"), "DONE")
	if who := c.get("SELECT coalesce(string_agg(DISTINCT who, ' '), '') FROM evil.got WHERE who <> $1", c.alice); who != "" {
		t.Errorf("log_end() of alice has run as %s", who)
	}
}

// TestADeferredConstraintTakesNothingOfATask: from PostgreSQL 18 on the functions in its index run so,
// too. One of columns alone calls none.
func TestADeferredConstraintTakesNothingOfATask(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.drain()
	const odd = "ALTER TABLE task ADD CONSTRAINT lane EXCLUDE USING btree (lane(id) WITH =) DEFERRABLE INITIALLY DEFERRED"
	c.must(c.serving, "CREATE FUNCTION lane(id int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN round(id::numeric); END'; "+
		"ALTER TABLE task ADD EXCLUDE USING btree (id WITH =) DEFERRABLE; "+odd)
	if c.get("SELECT current_setting('server_version_num')::int4 >= 180000") == "true" {
		const refused = "constraint lane of table public.task may be deferred to the COMMIT"
		c.refuses(refused, "SET ROLE $serving; ALTER TABLE task DROP CONSTRAINT lane")
		c.stops(refused, odd, "ALTER TABLE task DROP CONSTRAINT lane")
		c.stops(refused, "ALTER TABLE task ADD CONSTRAINT lane EXCLUDE USING btree (id WITH =) WHERE (lane(id) > 0) DEFERRABLE", "ALTER TABLE task DROP CONSTRAINT lane")
	} else {
		c.serve()
	}
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
}

// TestAColumnRoleWithoutItsTriggerIsNotBelieved, the user's own or ours: whoever might write into it
// has chosen what it says.
func TestAColumnRoleWithoutItsTriggerIsNotBelieved(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.drain()
	const refused = "table public.task has a column role and no trigger that guards it"
	c.must(c.serving, "DROP TRIGGER pgtaskd_role ON task")
	c.must(c.alice, "INSERT INTO task (input, role, plan) VALUES ('SELECT session_user', '$bob', 'infinity')")
	c.refuses(refused, "SET ROLE $serving; COMMENT ON COLUMN task.role IS 'believed'")
	c.eventually("1", "SELECT count(*) FROM pg_trigger WHERE tgname = 'pgtaskd_role'")
	c.becomes(c.asks(c.alice, "SELECT 1"), "DONE")
	c.eventually("Who inserted the task, and under whom it runs", "SELECT col_description('task'::regclass, attnum) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'role'")
	c.must(c.serving, "ALTER TABLE task DISABLE TRIGGER pgtaskd_role")
	c.must(c.alice, "INSERT INTO task (input, role, data) VALUES ('SELECT session_user', '$bob', 'forged')")
	c.must(c.serving, "ALTER TABLE task ENABLE TRIGGER pgtaskd_role") // not always, which somebody has to say
	c.says("target failed", refused)
	c.must(c.serving, "UPDATE task SET role = '$alice' WHERE data = 'forged'; ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.eventually(c.alice, "SELECT output FROM task WHERE data = 'forged'")

	// Nor is it believed once more where somebody has said so, and enabled the trigger all the same.
	c.must(c.serving, "ALTER TABLE task DISABLE TRIGGER pgtaskd_role")
	c.must(c.serving, "COMMENT ON COLUMN task.role IS 'believed'; ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.drain()
	c.serve()
	c.settled()
	c.stops(refused, "ALTER TABLE task DISABLE TRIGGER pgtaskd_role", "ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.drain()

	function := c.get("SELECT proname FROM pg_proc WHERE proname LIKE 'pgtaskd_role_%'")
	c.must(c.serving, "DROP FUNCTION "+function+" CASCADE; ALTER TABLE task DROP COLUMN role, ADD COLUMN role text")
	c.exec(c.named("INSERT INTO task (input, role) VALUES ('SELECT session_user', '$alice')"))
	c.refuses(refused, "SET ROLE $serving; ALTER TABLE task RENAME role TO whose")
	c.eventually(c.serving, "SELECT to_jsonb(t) ->> 'role' FROM task AS t WHERE whose = $1", c.alice)
	c.eventually("1", "SELECT count(*) FROM task WHERE output = $1", c.serving)
}

// TestNothingIsReadThatItsTriggerMayNotHaveSeen: not even a task that comes alone, and for whose role
// a session lies ready.
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
