package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestTaskThatRewritesItsTableEndsWell: its row has a new version, but nobody has changed it.
func TestTaskThatRewritesItsTableEndsWell(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE FUNCTION rewrite() RETURNS void LANGUAGE plpgsql AS $$BEGIN ALTER TABLE task ADD COLUMN hidden float8 DEFAULT random(); END$$")
	for _, input := range []string{
		"ALTER TABLE task ALTER COLUMN data TYPE varchar(100)",
		"ALTER TABLE task ADD COLUMN number float8 DEFAULT random()",
		"DO $$BEGIN ALTER TABLE task ADD COLUMN other float8 DEFAULT random(); EXCEPTION WHEN division_by_zero THEN NULL; END$$",
		"SELECT rewrite()",
		"VACUUM FULL task",
		"CLUSTER task USING task_pkey",
		"ALTER TABLE task SET (fillfactor = 70)",
		"BEGIN; ALTER TABLE task ALTER COLUMN data TYPE text; COMMIT",
	} {
		id := s.add("input, data", input, "kept")
		s.becomes(id, "DONE", "FAIL")
		if row := s.row(id, "state, data, error, interrupted"); row != `{"state":"DONE","data":"kept","error":null,"interrupted":0}` {
			t.Error(input, row)
		}
	}
	once := s.add("input, rerun", "ALTER TABLE task ALTER COLUMN data TYPE varchar(50)", false)
	s.becomes(once, "DONE", "FAIL")
	if row := s.row(once, "state, attempt, sqlstate"); row != `{"state":"FAIL","attempt":1,"sqlstate":"55006"}` {
		t.Error(row) // it may not run a second time
	}
}

// TestTaskChangesItsOwnRow: in many ways, and locks it, or the table. The task runs a second time,
// with its row prepared before its SQL. Its effects come once, and its changes stay, except for
// columns that pgtaskd writes.
func TestTaskChangesItsOwnRow(t *testing.T) {
	t.Parallel()
	s := play(t)
	const row, mine = " WHERE " + own, "UPDATE task SET data = 'mine' WHERE " + own
	s.exec("CREATE TABLE effect (id int8); CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS $$BEGIN " + mine + "; EXCEPTION WHEN division_by_zero THEN NULL; END$$")
	for _, c := range [][2]string{ // inputs, and state, data, and effects
		{effect + mine, "DONE mine 1"},
		{effect + "UPDATE task SET state = 'STOP'" + row, "DONE  1"},
		{effect + "UPDATE task SET state = 'PLAN'" + row, "DONE  1"},
		{effect + "UPDATE task SET state = 'DONE'" + row, "DONE  1"},
		{effect + "UPDATE task SET output = 'forged'" + row, "DONE  1"},
		{effect + "UPDATE task SET data = 'late', error = 'forged'" + row + " AND pg_sleep(0.5)::text = ''", "DONE late 1"},
		{effect + "SELECT FROM task" + row + " FOR UPDATE", "DONE  1"},
		{effect + "SAVEPOINT s; " + mine + "; RELEASE s", "DONE mine 1"},
		{effect + "SAVEPOINT s; " + mine + "; RELEASE s; SAVEPOINT b; SELECT 1", "DONE mine 1"},
		{effect + "SAVEPOINT s; " + mine + "; ROLLBACK TO s", "DONE  1"},
		{effect + "LOCK TABLE task IN SHARE MODE", "DONE  1"},
		{effect + "ALTER TABLE task ALTER priority SET DEFAULT 0", "DONE  1"},
		{effect + mine + "; SELECT 1/0", "FAIL  0"},
		{effect + "DELETE FROM task" + row, " 1"},
		{effect + "DELETE FROM task" + row + "; COMMIT", " 1"},
		{effect + "COMMIT; " + mine, "DONE mine 1"},
		{effect + "COMMIT; UPDATE task SET state = 'DONE'" + row, "DONE  1"},
		{mine, "DONE mine 0"},
		{"SAVEPOINT a; " + mine, "DONE mine 0"},
		{"SAVEPOINT a; " + mine + "; RELEASE a", "DONE mine 0"},
		{"SELECT max(age(xmin)) FROM task; " + mine, "DONE mine 0"},
		{"SELECT change()", "DONE mine 0"},
		{"SELECT max(age(xmin)) FROM task; SELECT change()", "DONE mine 0"},
		{mine + "; ALTER TABLE task ADD COLUMN number float8 DEFAULT random()", "DONE mine 0"},
		{"ALTER TABLE task ADD COLUMN number2 float8 DEFAULT random(); " + mine, "DONE mine 0"},
		{"ALTER TABLE task ADD COLUMN number3 float8 DEFAULT random(); SELECT change()", "DONE mine 0"},
		{"ALTER TABLE task ALTER COLUMN data TYPE varchar(100); UPDATE task SET data = 'all'", "DONE all 0"},
		{"UPDATE task SET input = 'SELECT 1'" + row + "; ALTER TABLE task ALTER COLUMN data TYPE varchar(90)", "DONE  0"},
	} {
		id := s.add(`input, "group", "delete"`, c[0], c[0], false)
		s.eventually(c[1], fmt.Sprintf("SELECT concat((SELECT concat(state, ' ', data) FROM task WHERE id = %[1]d), ' ', (SELECT count(*) FROM effect WHERE id = %[1]d))", id))
		if told := s.get("SELECT concat_ws(' ', attempt, error) FROM task WHERE id = $1 AND state = 'DONE'", id); told != "1" && strings.HasPrefix(c[1], "DONE") {
			t.Error(c[0], ": attempts and error: ", told)
		}
	}
	if got := s.get("SELECT input FROM task ORDER BY id DESC LIMIT 1"); got != "SELECT 1" {
		t.Error("the input of the last is ", got)
	}
	if forged := s.get("SELECT json_agg(t) FROM (SELECT input, state, output, error, notice FROM task WHERE output = 'forged' OR error = 'forged') AS t"); forged != "NULL" {
		t.Error("what the task has written holds: ", forged)
	}
	s.others()
}

// TestMarkInTheMiddleIsNoChangeOfTheTasksOwn: the mark's transaction is younger than the task's.
func TestMarkInTheMiddleIsNoChangeOfTheTasksOwn(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (id int8)")
	id := s.add("input", "SAVEPOINT a; INSERT INTO effect VALUES (1); RELEASE a; SELECT pg_sleep(0.5)")
	s.becomes(id, "WORK")
	s.becomes(id, "DONE", "FAIL")
	if row := s.row(id, "state, attempt, error"); row != `{"state":"DONE","attempt":1,"error":null}` {
		t.Error(row)
	}
}

// TestARunThatLocksTheTableEnds: the second time, its row is prepared before its SQL begins. This
// is impossible for an input that must come first in its transaction, and for one that reads from
// an old snapshot and changes its row: they FAIL, with a hint.
func TestARunThatLocksTheTableEnds(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect ()")
	for input, want := range map[string]string{
		"INSERT INTO effect DEFAULT VALUES; SELECT pg_sleep(0.3); LOCK TABLE task": `{"state":"DONE","attempt":1,"sqlstate":null,"hints":null}`,
		dated + "INSERT INTO effect DEFAULT VALUES; LOCK TABLE task":               `{"state":"FAIL","attempt":1,"sqlstate":"25001","hints":true}`,
		"UPDATE task SET data = 'x' WHERE " + own + "; SET TRANSACTION READ ONLY":  `{"state":"DONE","attempt":1,"sqlstate":null,"hints":null}`,
		"UPDATE task SET data = 'repeatable read' WHERE " + own:                    `{"state":"FAIL","attempt":1,"sqlstate":"40001","hints":true}`,
	} {
		var settings *string
		if strings.Contains(input, "'repeatable read'") {
			settings = new(string)
			*settings = `{"default_transaction_isolation": "repeatable read"}`
		}
		id := s.add("input, settings", input, settings)
		s.becomes(id, "DONE", "FAIL")
		if row := s.row(id, "state, attempt, sqlstate, error LIKE E'%\\nHINT: %' AS hints"); row != want {
			t.Error(input, row, s.get("SELECT error FROM task WHERE id = $1", id))
		}
	}
	if got := s.get("SELECT count(*) FROM effect"); got != "1" {
		t.Error(got, " effects")
	}
}

// TestATaskThatItsOwnSQLRefersToIsMarkedAndStopped: the check of a foreign key locks the row. We
// can still mark and stop the task.
func TestATaskThatItsOwnSQLRefersToIsMarkedAndStopped(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE child (task int8 REFERENCES task (id))")
	id := s.add("input", "INSERT INTO child SELECT current_setting('pg_task.id')::int8; SELECT pg_sleep(60)")
	s.becomes(id, "WORK")
	s.exec("UPDATE task SET state = 'STOP' WHERE id = $1", id)
	s.eventually("true", "SELECT stop IS NOT NULL FROM task WHERE id = $1", id)
	if got := s.get("SELECT state::text || (SELECT count(*) FROM child) FROM task WHERE id = $1", id); got != "STOP0" {
		t.Error(got)
	}
}

// TestClaimWhoseAnswerIsLost: the task is judged, for which its session ends. No other task runs on
// that session.
func TestClaimWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE effect (n int); CREATE SEQUENCE killed")
	s.exec(`CREATE FUNCTION kill() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
		IF NOT (SELECT is_called FROM killed)
			AND NOT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') THEN
			PERFORM setval('killed', NEW.pid);
			PERFORM pg_terminate_backend(pg_backend_pid()); -- the ledger's connection, and not that of control
		END IF;
		RETURN NEW;
	END$$`)
	s.exec(`CREATE TRIGGER kill BEFORE UPDATE ON task FOR EACH ROW
		WHEN (OLD.state = 'PLAN' AND NEW.xact > 0 AND NEW.pid > 0) EXECUTE FUNCTION kill()`)
	for s.get("SELECT is_called FROM killed") == "false" {
		s.becomes(s.add("input", "INSERT INTO effect VALUES (1)"), "DONE") // the ledger has a connection
		s.exec(`INSERT INTO task (input, delete) VALUES
			('UPDATE task SET data = 1 WHERE id = current_setting(''pg_task.id'')::int8', false),
			('SELECT pg_backend_pid()', false)`)
		s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	}
	if s.get("SELECT output = last_value::text FROM task, killed ORDER BY id DESC LIMIT 1") == "true" {
		t.Error("another task has run on the session")
	}
}
