package smoke

import "testing"

// TestKill: after kill -9 the tasks that ran run again, when it is certain that they do not run any
// more.
func TestKill(t *testing.T) {
	t.Parallel()
	s := own(t, object{})
	u := s.user(t)
	u.exec("CREATE TABLE effect (id int8, attempt text)")
	const effect = "INSERT INTO effect VALUES (current_setting(''pg_task.id'')::int8, current_setting(''pg_task.attempt''));"
	id := u.add("input", "'"+effect+" SELECT pg_sleep(1)'")
	once := u.add(`input, rerun, repeat, "group"`, "'BEGIN; COMMIT; SELECT pg_sleep(1)', false, '1 day', 'once'")
	u.becomes(id, "WORK")
	u.becomes(once, "WORK")
	s.program.Kill()
	again := run(t, "run", "--config", s.conf)
	again.says(t, `"leading"`, 1)
	row := u.becomes(id, "DONE")
	u.shows(row, "interrupted", "1", "attempt", "2")
	u.is("(SELECT string_agg(attempt, ' ') FROM effect WHERE id = $1)", "2", id)
	u.is("(SELECT jsonb_array_length(runs) || ' ' || (runs #>> '{0,cause}') FROM task WHERE id = $1)", "1 interrupted", id)

	// A task that must not run twice and may have had effects has failed; its repetition follows.
	row = u.becomes(once, "FAIL")
	u.shows(row, "interrupted", "1", "attempt", "1")
	u.is("(SELECT count(*) FROM task WHERE parent = $1 AND state = 'PLAN')", "1", once)
}

// TestKillInAQueue: waiting tasks go on, and nothing runs twice.
func TestKillInAQueue(t *testing.T) {
	t.Parallel()
	s := own(t, object{"run": 8})
	u := s.user(t)
	u.exec("CREATE TABLE effect (id int8)")
	u.exec(`INSERT INTO task ("group", input) SELECT n % 10, 'INSERT INTO effect VALUES (current_setting(''pg_task.id'')::int8); SELECT pg_sleep(0.002)' FROM generate_series(1, 1000) AS n`)
	for range 3 {
		before := u.value("SELECT count(*) FROM effect")
		u.until("SELECT count(*) > $1::int + 50 FROM effect", before)
		s.program.Kill()
		s.program = run(t, "run", "--config", s.conf)
	}
	u.until("SELECT count(*) = 0 FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')")
	u.is("(SELECT count(*) FROM task WHERE state = 'DONE')", "1000")
	u.is("(SELECT count(*) || ' ' || count(DISTINCT id) FROM effect)", "1000 1000")
}

// TestServerRestarts during a run: the run is tried again, and counted.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	own := newServer(t)
	p := run(t, "run", own.DSN("postgres"))
	p.says(t, `"leading"`, 1)
	u := connect(t, own.DSN("postgres"))
	id := u.add("input", "'SELECT pg_sleep(2)'")
	u.becomes(id, "WORK")
	if err := own.Crash(); err != nil {
		t.Fatal(err)
	}
	if err := own.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	u = connect(t, own.DSN("postgres"))
	u.shows(u.becomes(id, "DONE"), "interrupted", "1", "attempt", "2", "error", "NULL")
	u.becomes(u.add("input", "'SELECT 1'"), "DONE")
}
