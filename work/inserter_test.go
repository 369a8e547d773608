package work

import (
	"fmt"
	"testing"

	"pgtaskd/major"
	"pgtaskd/server/servertest"
)

// TestTaskRunsAsWhoInsertedIt: whatever the INSERT says. Its repetition runs under the same role.
func TestTaskRunsAsWhoInsertedIt(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must(c.alice, "CREATE TABLE effect (who text, id int8)")
	const writes = "INSERT INTO effect VALUES (current_user || ' ' || session_user, current_setting('pg_task.id')::int8) RETURNING who"
	id := c.asks(c.alice, writes, "role", "'"+c.serving+"'", "repeat", "'1 day'")
	c.becomes(id, "DONE")
	if row, want := c.row(id, "role, output, atomic, attempt, "+
		"(SELECT n.role FROM task AS n WHERE n.id = task.next) AS follows"),
		c.named(`{"role":"$alice","output":"$alice $alice","atomic":true,"attempt":1,"follows":"$alice"}`); row != want {
		t.Errorf("the row is %s, want %s", row, want)
	}
	own := c.asks(c.serving, "SELECT session_user")
	c.becomes(own, "DONE")
	if who := c.get("SELECT role || ' ' || output FROM task WHERE id = $1", own); who != c.serving+" "+c.serving {
		t.Errorf("the serving role's task runs as %s", who)
	}
	for range 3 { // in sessions that have been used
		for _, input := range []string{writes, "SELECT 1 AS a", "VACUUM effect", "SELECT 1/0"} {
			c.becomes(c.asks(c.alice, input), map[bool]string{true: "FAIL", false: "DONE"}[input == "SELECT 1/0"])
		}
	}
	if n := c.get("SELECT count(*) FROM effect WHERE who = $1", c.alice+" "+c.alice); n != "4" {
		t.Errorf("%s effects, want 4", n)
	}
}

// TestEndIsWrittenWhateverATaskLeaves: temporary objects, settings, operators and prepared
// statements of a role do not change how its tasks end. None of its code runs as the owner of the
// table.
func TestEndIsWrittenWhateverATaskLeaves(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.exec(c.named(`CREATE TABLE audit (who text, state text); ALTER TABLE audit OWNER TO $serving;
		CREATE FUNCTION audits() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN INSERT INTO audit VALUES (current_user, NEW.state::text); RETURN NEW; END$f$;
		CREATE TRIGGER audits AFTER UPDATE ON task FOR EACH ROW WHEN (NEW.state = 'DONE') EXECUTE FUNCTION audits()`))
	c.must(c.alice, `CREATE TABLE effect (id int8); CREATE TABLE caught (who text);
		CREATE FUNCTION catches() RETURNS trigger LANGUAGE plpgsql AS $f$BEGIN INSERT INTO public.caught VALUES (current_user); RETURN NEW; END$f$;
		CREATE FUNCTION catches(int8, int4) RETURNS bool LANGUAGE plpgsql AS $f$BEGIN INSERT INTO public.caught VALUES (current_user); RETURN true; END$f$;
		CREATE OPERATOR public.= (LEFTARG = int8, RIGHTARG = int4, FUNCTION = catches)`)
	c.exec(c.named("GRANT INSERT ON caught TO PUBLIC; GRANT TEMPORARY ON DATABASE $database TO $alice"))
	leaves := []string{
		"CREATE TEMP TABLE audit (who text, state text); CREATE TRIGGER catches BEFORE INSERT ON pg_temp.audit FOR EACH ROW EXECUTE FUNCTION catches()",
		"CREATE TEMP TABLE task (LIKE public.task)", "RESET ALL", "RESET ROLE; RESET SESSION AUTHORIZATION", "SET search_path = pg_temp, public, pg_catalog", "DEALLOCATE ALL", "DISCARD PLANS",
		"PREPARE pgtaskd_done AS SELECT 1", "SET default_transaction_read_only = off; SET row_security = off", "SET lock_timeout = 1; SET statement_timeout = '5s'", "SET transform_null_equals = on",
		"SET standard_conforming_strings = off; SET DateStyle = 'German, DMY'; SET TimeZone = 'Asia/Kolkata'", "SAVEPOINT a", "SET CONSTRAINTS ALL DEFERRED",
		"SET client_encoding = 'LATIN1'", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "LISTEN x; NOTIFY x", "SELECT pg_advisory_lock(1)", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
	}
	conn := c.as(c.alice)
	for i, leaves := range leaves {
		for j, save := range []string{"false", "true"} {
			input := leaves + "; INSERT INTO public.effect VALUES (1); SELECT E'ü'"
			if _, err := conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO task (id, "group", save, repeat, key, timeout, input) VALUES (%d, '%d', %s, '1 day', '%[1]d', '10 s', $1)`, 1000+2*i+j, i, save), input); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 2 * len(leaves) {
		id := int64(1000 + i)
		c.becomes(id, "DONE", "FAIL")
		if row := c.row(id, "state, error, attempt, atomic, next IS NOT NULL AS follows"); row != `{"state":"DONE","error":null,"attempt":1,"atomic":true,"follows":true}` {
			t.Errorf("%s (%d): %s", leaves[i/2], i%2, row)
		}
	}
	if who := c.get("SELECT coalesce(string_agg(DISTINCT who, ' '), '') FROM caught WHERE who <> $1", c.alice); who != "" {
		t.Errorf("run as %s", who)
	}
	if who := c.get("SELECT string_agg(DISTINCT who, ' ') FROM audit"); who != c.serving {
		t.Errorf("the owner's trigger runs as %s, want %s", who, c.serving)
	}
}

// TestAJobIsNotCarriedOnByAnother: if a task of another role waits with the key, the repetition is
// kept beside it as superseded. A waiting task of the same role carries on the job.
func TestAJobIsNotCarriedOnByAnother(t *testing.T) {
	t.Parallel()
	c := employed(t)
	for role, want := range map[string]string{c.alice: "WITHIN", c.bob: "GONE ERROR:  superseded by task"} {
		id := c.asks(c.alice, "SELECT pg_sleep(0.5)", "key", "'nightly of "+role+"'", "repeat", "'1 hour'", "\"group\"", "'"+role+"'")
		c.becomes(id, "WORK")
		other := c.asks(role, "SELECT 1", "key", "'nightly of "+role+"'", "repeat", "'1 day'", "plan", "'infinity'")
		c.becomes(id, "DONE")
		c.eventually(want, `SELECT CASE WHEN n.id = $2 THEN 'WITHIN' ELSE concat(n.state, ' ', substr(n.error, 1, 26)) END FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.id = $1`, id, other)
		if role := c.get("SELECT role FROM task AS t WHERE id = (SELECT next FROM task WHERE id = $1)", id); want != "WITHIN" && role != c.alice {
			t.Error("the repetition belongs to ", role)
		}
	}
}

// fails checks that the task FAILs because it has no role.
func (c *company) fails(id any) {
	c.t.Helper()
	c.eventually("FAIL ERROR:  task has no role nobody", "SELECT concat(state, ' ', split_part(error, E'\\n', 1), ' ', coalesce(role, 'nobody')) FROM task WHERE id = $1", id)
}

// nothing checks that the task, its on_fail task and its repetition FAIL at once without a role.
func (c *company) nothing(id any) {
	c.t.Helper()
	c.fails(id)
	c.fails(c.get("SELECT id FROM task WHERE parent = $1 AND repeat = '0'", id))
	next := c.get("SELECT next FROM task WHERE id = $1", id)
	c.must(c.serving, "UPDATE task SET plan = statement_timestamp() WHERE id = "+next)
	c.fails(next)
	if ran := c.get("SELECT coalesce(string_agg(who, ' '), '') FROM ran"); ran != "" {
		c.t.Error("it has run as ", ran)
	}
}

const writesDown = "INSERT INTO ran VALUES (session_user)"

// TestNothingOfATaskWithoutARoleRuns: nobody knows who wrote its SQL and its on_fail. The serving
// role inserts the on_fail task and the repetition.
func TestNothingOfATaskWithoutARoleRuns(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must(c.serving, "CREATE TABLE ran (who text); GRANT ALL ON ran TO PUBLIC")
	c.nothing(c.asks(c.serving, writesDown, "role", "NULL", "repeat", "'1 day'", "on_fail", "'"+writesDown+"'"))
	c.drain()
	c.must(c.serving, "ALTER TABLE task DISABLE TRIGGER pgtaskd_role") // as a restore may do
	id := c.asks(c.bob, writesDown, "role", "NULL", "repeat", "'1 day'", "on_fail", "'"+writesDown+"'")
	c.must(c.serving, "ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.serve()
	c.nothing(id)
	c.becomes(c.asks(c.alice, writesDown), "DONE")
}

// TestATaskWithoutARoleGetsNoneByMoving: a row that moves to another partition is inserted there.
// Rows of an attached table may have any role, or none.
func TestATaskWithoutARoleGetsNoneByMoving(t *testing.T) {
	t.Parallel()
	if servertest.Lacks(t, major.PartitionedTriggers) {
		return
	}
	var bound string
	c := founded(t, func(c *company) {
		bound = c.get("SELECT quote_literal(current_date + 30)")
		c.must("postgres", `CREATE TABLE task (id bigserial, plan timestamptz NOT NULL DEFAULT statement_timestamp(), input text NOT NULL) PARTITION BY RANGE (plan);
			CREATE TABLE late PARTITION OF task FOR VALUES FROM (`+bound+`) TO (MAXVALUE); ALTER TABLE task OWNER TO $serving; ALTER TABLE late OWNER TO $serving`)
	})
	c.serve()
	c.settled()
	c.must(c.serving, `CREATE TABLE ran (who text); GRANT ALL ON ran TO PUBLIC;
		CREATE TABLE taken (LIKE task INCLUDING ALL); GRANT INSERT ON taken TO $bob; GRANT USAGE ON SEQUENCE task_id_seq TO $bob`)
	c.must(c.bob, "INSERT INTO taken (id, input, role, repeat, cron, origin, on_fail) SELECT i, '"+writesDown+"', NULL, r::interval, cron, origin, '"+writesDown+
		"' FROM (VALUES (1, '1 day', NULL, NULL), (2, '0', '@every 2000h', now())) AS v (i, r, cron, origin); SELECT nextval('task_id_seq') FROM generate_series(1, 2)")
	c.must(c.serving, "ALTER TABLE task ATTACH PARTITION taken FOR VALUES FROM (MINVALUE) TO ("+bound+")")
	c.nothing(1)
	const moved = "SELECT concat(tableoid::regclass, ' ', coalesce(role, 'nobody')) FROM task WHERE plan > now() + '1000 hours' AND id = "
	c.eventually("late nobody", moved+"2")
	c.must(c.serving, "UPDATE task SET plan = now() - interval '1 s' WHERE id = 2")
	c.fails(2)
	c.eventually("late nobody", moved+"(SELECT t.next FROM task AS t WHERE t.id = 2)")
}

// TestEndBeforeATaskThatMustNotRun: a run that has ended is committed if the task that follows it in
// its session is turned away.
func TestEndBeforeATaskThatMustNotRun(t *testing.T) {
	t.Parallel()
	c := employed(t, func(c *company) { c.target.Run = 1 })
	c.must(c.serving, `CREATE TABLE effect (id int8);
		INSERT INTO task (id, "group", input) VALUES (1, 'a', 'INSERT INTO effect VALUES (1); SELECT pg_sleep(0.07)'), (2, 'b', 'SELECT 1');
		UPDATE task SET role = NULL WHERE id = 2`)
	c.becomes(2, "FAIL")
	c.becomes(1, "DONE")
	if n := c.get("SELECT count(*) FROM effect"); n != "1" {
		t.Error(n, "effects")
	}
}
