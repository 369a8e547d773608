package work

import (
	"strings"
	"testing"
)

// guards makes the trigger that says who inserts a row, as the script that schema prints does.
const guards = "CREATE TRIGGER pgtaskd_role BEFORE INSERT OR UPDATE ON task FOR EACH ROW EXECUTE FUNCTION pgtaskd_role('$serving'); ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role"

// refuses fails the test unless the target is refused by check and run with these words; it is served
// once what is in the way is mended.
func (c *company) refuses(want, mend string) {
	c.t.Helper()
	if faults := strings.Join(Check(c.t.Context(), c.target).Faults, "\n"); !strings.HasPrefix(faults, want) {
		c.t.Errorf("check complains %q", faults)
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
	const refused = "table public.child is below the table, and its own trigger pgtaskd_role is missing or not enabled always"
	const below = " ON child FOR EACH ROW EXECUTE FUNCTION pgtaskd_role('$serving')"
	c.must(c.serving, "CREATE TRIGGER pgtaskd_role BEFORE INSERT"+below) // not UPDATE, nor always
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

// TestAColumnRoleWithoutItsTriggerIsNotBelieved, the user's own or ours: whoever might write into it
// has chosen what it says.
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
	c.must(c.serving, "ALTER TABLE task ENABLE TRIGGER pgtaskd_role") // not always, which somebody has to say
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
