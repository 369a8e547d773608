package smoke

import "testing"

func TestPartitions(t *testing.T) {
	t.Parallel()
	database := newDatabase(t)
	u := connect(t, postgres.DSN(database))
	u.exec(printed(t))
	u.exec(`ALTER TABLE task RENAME TO model; CREATE TABLE task (LIKE model INCLUDING DEFAULTS INCLUDING GENERATED) PARTITION BY RANGE (plan);
		CREATE TABLE task_old PARTITION OF task FOR VALUES FROM (MINVALUE) TO ('2026-01-01');
		CREATE TABLE task_new PARTITION OF task FOR VALUES FROM ('2026-01-01') TO (MAXVALUE);
		ALTER SEQUENCE task_id_seq OWNED BY NONE; DROP TABLE model`)
	serve(t, database, object{})
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
	u.becomes(u.add("input, plan", "'SELECT 1', '2020-01-01'"), "GONE")
	id := u.add("input, plan, active, repeat", "'SELECT 1', '2020-01-01', '0', '1 day'")
	next := u.becomes(id, "DONE").text("next")
	u.is("(SELECT tableoid::regclass FROM task WHERE id = $1)", "task_new", next)
	u.exec("INSERT INTO task_new (input, \"group\") VALUES ('SELECT 2', 'straight')")
	u.until("SELECT state = 'DONE' FROM task WHERE \"group\" = 'straight'")
	// A retry that moves the row to another partition.
	id = u.add("input, plan, active, retry, backoff", "'SELECT 1/0', '2020-01-01', '0', 1, '100 ms'")
	u.shows(u.becomes(id, "FAIL"), "attempt", "2")
	id = u.add("input", "'SELECT pg_sleep(30)'")
	u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
}
