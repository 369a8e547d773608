package smoke

import "testing"

func TestStopOfAWaitingTask(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("plan, input", "now() + interval '2 s', 'SELECT 1'")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT plan + interval '300 ms' < now() FROM task WHERE id = $1", id)
	u.shows(u.task(id), "state", "STOP", "start", "NULL", "stop", "NULL", "error", "NULL", "attempt", "0")
	u.exec("UPDATE task SET state = 'PLAN' WHERE id = " + id)
	u.shows(u.becomes(id, "DONE"), "output", "1")
}

func TestStopOfARunningTask(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.exec("CREATE TABLE stopped (a int)")
	id := u.add("input, repeat", "'INSERT INTO stopped VALUES (1); SELECT pg_sleep(30)', '1 hour'")
	u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	row := u.task(id)
	u.shows(row, "state", "STOP", "sqlstate", "57014", "next", "NULL", "attempt", "1")
	u.is("(SELECT error LIKE E'ERROR:  %\\nDETAIL:  %STOP%' FROM task WHERE id = $1)", "t", id)
	u.is("(SELECT stop - start < interval '5 s' FROM task WHERE id = $1)", "t", id)
	u.is("(SELECT count(*) FROM stopped)", "0")
	u.is("(SELECT count(*) FROM task WHERE parent = $1)", "0", id)
}

// TestStopOfATaskThatWithstands: a running task that does not obey a cancel request at once is
// stopped anyway.
func TestStopOfATaskThatWithstands(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", `'SELECT set_config(name, ''0'', false) FROM pg_settings WHERE name = ''client_connection_check_interval'';
		DO $$ BEGIN FOR i IN 1..3 LOOP BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$'`)
	row := u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	u.shows(u.task(id), "state", "STOP")
	u.gone(row.text("pid"))
}

// TestStopOutsideATransaction: a run that is not exactly once is cancelled, too.
func TestStopOutsideATransaction(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'BEGIN; SELECT 1; COMMIT; SELECT pg_sleep(30)'")
	u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	u.shows(u.task(id), "state", "STOP", "sqlstate", "57014")
}

func TestStopOfAnEndedTask(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat", "'SELECT 1', '1 day'")
	next := u.becomes(id, "DONE").text("next")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.shows(u.task(id), "state", "DONE", "output", "1")
	u.shows(u.task(next), "state", "STOP", "stop", "NULL")
	u.exec("UPDATE task SET state = 'PLAN' WHERE id = " + next)
	u.shows(u.task(next), "state", "PLAN")
}

// TestStopAndGo: a stopped task that is set to PLAN runs again, and repeats itself.
func TestStopAndGo(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input, repeat", "'SELECT pg_sleep(30)', '1 day'")
	u.becomes(id, "WORK")
	u.exec("UPDATE task SET state = 'STOP' WHERE id = " + id)
	u.until("SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	u.exec("UPDATE task SET state = 'PLAN', input = 'SELECT 1' WHERE id = " + id)
	row := u.becomes(id, "DONE")
	u.shows(row, "output", "1", "error", "NULL", "attempt", "1")
	if row["next"] == nil {
		t.Error("there is no repetition")
	}
}

// TestStopRolledBack: a STOP that is rolled back has no effect.
func TestStopRolledBack(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'SELECT pg_sleep(2)'")
	u.becomes(id, "WORK")
	u.exec("BEGIN; UPDATE task SET state = 'STOP' WHERE id = " + id + "; ROLLBACK")
	u.becomes(id, "DONE")
}

// TestEndWaitsForALock: a lock on the row while the task ends only delays its end.
func TestEndWaitsForALock(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'SELECT pg_sleep(1.5)'")
	u.becomes(id, "WORK")
	u.exec("BEGIN")
	u.exec("SELECT FROM task WHERE id = " + id + " FOR UPDATE")
	u.exec("SELECT pg_sleep(2)") // longer than the task lasts
	u.exec("COMMIT")
	u.shows(u.becomes(id, "DONE"), "attempt", "1")
}

func TestDeleteOfARunningTask(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.exec("CREATE TABLE deleted (a int)")
	id := u.add("input, repeat", `'INSERT INTO deleted VALUES (1); SELECT pg_sleep(30)', '1 day'`)
	pid := u.becomes(id, "WORK").text("pid")
	u.exec("DELETE FROM task WHERE id = " + id)
	u.until("SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND query LIKE '%INTO deleted%')", pid)
	u.is("(SELECT count(*) FROM deleted)", "0")
	u.is("(SELECT count(*) FROM task WHERE parent = $1)", "0", id)
	// Its lane goes on.
	u.becomes(u.add("input", `'SELECT 1'`), "DONE")
}

// TestCancelByHand: if somebody cancels a backend by hand, its task does not run again at once.
func TestCancelByHand(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	id := u.add("input", "'SELECT pg_sleep(30)'")
	u.exec("SELECT pg_cancel_backend(" + u.becomes(id, "WORK").text("pid") + ")")
	u.shows(u.becomes(id, "FAIL"), "sqlstate", "57014", "error", "ERROR:  canceling statement due to user request\nSTATEMENT:  SELECT pg_sleep(30)",
		"attempt", "1", "interrupted", "0")

	id = u.add("input", "'SELECT pg_sleep(30)'")
	u.exec("SELECT pg_terminate_backend(" + u.becomes(id, "WORK").text("pid") + ")")
	u.shows(u.becomes(id, "FAIL"), "sqlstate", "57P01", "interrupted", "0",
		"error", "FATAL:  terminating connection due to administrator command\nSTATEMENT:  SELECT pg_sleep(30)")
}
