package work

import "testing"

// fails fails the test unless the task, which has no role, FAILs for that.
func (c *company) fails(id any) {
	c.t.Helper()
	c.eventually("FAIL ERROR:  task has no role nobody", "SELECT concat(state, ' ', split_part(error, E'\\n', 1), ' ', coalesce(role, 'nobody')) FROM task WHERE id = $1", id)
}

// nothing fails the test unless the task FAILs for want of a role, and so do its task of on_fail and
// its repetition, at once.
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

// TestNothingOfATaskWithoutARoleRuns: nobody knows who has written its SQL, nor that of on_fail,
// which the serving role inserts, as it does the repetition.
func TestNothingOfATaskWithoutARoleRuns(t *testing.T) {
	t.Parallel()
	c := employed(t)
	c.must(c.serving, "CREATE TABLE ran (who text); GRANT ALL ON ran TO PUBLIC")
	c.nothing(c.asks(c.serving, writesDown, "role", "NULL", "repeat", "'1 day'", "on_fail", "'"+writesDown+"'"))
	c.drain()
	c.must(c.serving, "ALTER TABLE task DISABLE TRIGGER pgtaskd_role") // as a restore may
	id := c.asks(c.bob, writesDown, "role", "NULL", "repeat", "'1 day'", "on_fail", "'"+writesDown+"'")
	c.must(c.serving, "ALTER TABLE task ENABLE ALWAYS TRIGGER pgtaskd_role")
	c.serve()
	c.nothing(id)
	c.becomes(c.asks(c.alice, writesDown), "DONE")
}

// TestATaskWithoutARoleGetsNoneByMoving: a row that moves to another partition is inserted there,
// and one of a table that is attached may have any role, or none.
func TestATaskWithoutARoleGetsNoneByMoving(t *testing.T) {
	t.Parallel()
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
