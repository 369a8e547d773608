package work

import (
	"fmt"
	"strings"
	"testing"

	"pgtaskd/exec/fault"
	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// TestOnlyTheServingRoleSaysHowATaskRuns: no other role can, not even the task's own, whatever the
// session is called. Nor can a task's leftovers in its session stop other roles' tasks.
func TestOnlyTheServingRoleSaysHowATaskRuns(t *testing.T) {
	t.Parallel()
	c := employed(t)
	own := c.asks(c.bob, "SELECT 1", "plan", "'infinity'")
	const control = "SET application_name = 'pgtaskd public task'; "
	for _, change := range []string{
		"state = 'WORK', pid = pg_backend_pid(), start = now()", "state = 'WORK'", "state = 'TAKE'", "state = 'DONE', stop = now()", "state = 'GONE'", "stopping = true", "state = 'STOP', stopping = true",
		"pid = 1", "start = now()", "stop = now()", "runs = '[]'", "attempt = 7", "interrupted = 7", "atomic = true", "next = 1", "parent = 1", "id = 77",
	} {
		if err := c.does(c.bob, control+fmt.Sprintf("UPDATE task SET %s WHERE id = %d", change, own)); !fault.Has(err, "42501", "23514") {
			t.Errorf("%s: %v", change, err)
		}
	}
	for _, forged := range forgeries {
		if err := c.does(c.bob, control+"INSERT INTO task (input, "+forged); !fault.Has(err, "42501", "23514") {
			t.Errorf("INSERT of %s: %v", forged, err)
		}
	}
	long := c.asks(c.alice, "SELECT pg_sleep(1)", "rerun", "false")
	c.becomes(long, "WORK")
	for _, state := range []string{"PLAN", "STOP'; UPDATE task SET state = 'PLAN"} {
		if err := c.does(c.bob, fmt.Sprintf("BEGIN; UPDATE task SET state = '%s' WHERE id = %d; COMMIT", state, long)); !fault.IsDenied(err) {
			t.Errorf("%s: %v", state, err)
		}
	}
	c.becomes(long, "DONE")
	if runs := c.get("SELECT concat(attempt, ' ', coalesce(jsonb_array_length(runs), 0)) FROM task WHERE id = $1", long); runs != "1 0" {
		t.Error("it has run more than once: ", runs)
	}
	c.exec(c.named("GRANT $bob TO $serving"))
	waits := c.asks(c.alice, "SELECT 1", "plan", "'infinity'")
	stops := c.asks(c.bob, fmt.Sprintf("CREATE TEMP TABLE x (); SELECT set_config('pgtaskd.stop_' || 'public.task'::regclass::oid, '%d', false)", waits), "overlap", "true", "repeat", "'1 day'")
	c.becomes(stops, "DONE")
	if state := c.state(waits); state != "PLAN" {
		t.Errorf("the task of another is %s", state)
	}
}

// TestAnotherStopsNoPreparedTask: whatever the session is called. The effects are about to be
// committed.
func TestAnotherStopsNoPreparedTask(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must("postgres", `CREATE TABLE effect (id int8); GRANT INSERT ON effect TO PUBLIC;
		CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
		CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON effect DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
	id := c.asks(c.alice, "INSERT INTO effect VALUES (1)")
	c.eventually("true", "SELECT xact IS NOT NULL FROM task WHERE id = $1", id)
	c.must(c.bob, fmt.Sprintf("SET application_name = 'pgtaskd public task'; UPDATE task SET state = 'STOP' WHERE id = %d", id))
	c.becomes(id, "DONE")
}

// forgeries are INSERTs that claim a run that never happened.
var forgeries = []string{
	"pid) VALUES ('SELECT 1', 1)", "runs) VALUES ('SELECT 1', '[{\"cause\": \"crash\"}, {\"cause\": \"crash\"}]')", "interrupted) VALUES ('SELECT 1', 2)", "attempt) VALUES ('SELECT 1', 3)",
	"state) VALUES ('SELECT 1', 'DONE')", "state, plan, stop) VALUES ('SELECT 1', 'FAIL', 'infinity', now())", "state, cron) VALUES ('SELECT 1', 'GONE', '@daily')", "state, stop) VALUES ('SELECT 1', 'STOP', now())",
	"stop) VALUES ('SELECT 1', now() + interval '1 day')", "start) VALUES ('SELECT 1', now())", "state, start) VALUES ('SELECT 1', 'STOP', now())",
	"state, plan) VALUES ('SELECT 1', 'WORK', 'infinity')", "next) VALUES ('SELECT 1', 1)", "failures) VALUES ('SELECT 1', 3)", "state, stopping, pid, start) VALUES ('SELECT 1', 'STOP', true, 1, now())", "state, pid, start) VALUES ('SELECT 1', 'WORK', 1, now())",
}

// TestAPartitionTakesNoForgedTask: nor does it from a role that may also UPDATE, whatever the
// session is called.
func TestAPartitionTakesNoForgedTask(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
	c := founded(t, func(c *company) {
		c.must("postgres", parts+"; ALTER TABLE task OWNER TO $serving; ALTER TABLE p1 OWNER TO $serving; ALTER TABLE p2 OWNER TO $serving; ALTER TABLE p3 OWNER TO $serving; ALTER TABLE p4 OWNER TO $serving")
	})
	c.serve()
	c.settled()
	c.exec(c.named("GRANT SELECT, INSERT, UPDATE, DELETE ON task TO $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $bob"))
	for _, forged := range forgeries {
		// A task that is to run again has them.
		if strings.HasPrefix(forged, "pid)") || strings.HasPrefix(forged, "runs)") {
			continue
		}
		if err := c.does(c.bob, "SET application_name = 'pgtaskd public task'; INSERT INTO task (input, "+forged); !fault.Has(err, "42501", "23514") {
			t.Errorf("INSERT of %s: %v", forged, err)
		}
	}
	c.exec(c.named("GRANT $bob TO $serving"))
	old := c.asks(c.bob, "SELECT 1/0", "plan", "'2020-06-01'", "active", "'100 years'")
	c.becomes(old, "FAIL")
	c.must(c.bob, fmt.Sprintf("UPDATE task SET state = 'PLAN' WHERE id = %d", old)) // moves it to the current partition
	c.eventually("FAIL 1 1", "SELECT concat_ws(' ', state, attempt, jsonb_array_length(runs)) FROM task WHERE id = $1 AND plan > '2025-01-01'", old)
}
