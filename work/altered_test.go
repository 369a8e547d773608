package work

import (
	"strconv"
	"strings"
	"testing"
)

// TestTaskThatRewritesItsTableEndsWell: its row is a new version then, which nobody has changed.
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

// TestTaskChangesItsOwnRow by whatever way: it runs a second time, and what it sets holds.
func TestTaskChangesItsOwnRow(t *testing.T) {
	t.Parallel()
	s := play(t)
	const own = "UPDATE task SET data = 'changed' WHERE id = current_setting('pg_task.id')::int8"
	s.exec("CREATE FUNCTION change() RETURNS void LANGUAGE plpgsql AS $$BEGIN " + own + "; EXCEPTION WHEN division_by_zero THEN NULL; END$$")
	for _, input := range []string{
		own,
		"SAVEPOINT a; " + own,
		"SAVEPOINT a; " + own + "; RELEASE a",
		"INSERT INTO effect VALUES (1); SAVEPOINT a; " + own + "; RELEASE a; SAVEPOINT b; SELECT 1",
		"SELECT max(age(xmin)) FROM task; " + own,
		"SELECT change()",
		"SELECT max(age(xmin)) FROM task; SELECT change()",
		own + "; ALTER TABLE task ADD COLUMN number float8 DEFAULT random()",
		"ALTER TABLE task ADD COLUMN number2 float8 DEFAULT random(); " + own,
		"ALTER TABLE task ADD COLUMN number3 float8 DEFAULT random(); SELECT change()",
		"ALTER TABLE task ALTER COLUMN data TYPE varchar(100); UPDATE task SET priority = 7",
		"UPDATE task SET input = 'SELECT 1' WHERE id = current_setting('pg_task.id')::int8; ALTER TABLE task ALTER COLUMN data TYPE varchar(100)",
	} {
		s.exec("DROP TABLE IF EXISTS effect; CREATE TABLE effect (id int8)")
		id := s.add("input, data", input, "kept")
		s.becomes(id, "DONE", "FAIL")
		want := `{"state":"DONE","error":null,"attempt":1,"changed":true}`
		if row := s.row(id, "state, error, attempt, data = 'changed' OR priority = 7 OR input = 'SELECT 1' AS changed"); row != want {
			t.Error(input, row)
		}
		if n := s.get("SELECT count(*) FROM effect"); n != strconv.Itoa(strings.Count(input, "INTO effect")) {
			t.Errorf("%s: %s effects", input, n)
		}
	}
}

// TestMarkInTheMiddleIsNoChangeOfTheTasksOwn: it comes from a transaction that is younger than the
// task's.
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

// TestAColumnThatWasOfAnotherTypeForAWhile leaves nothing behind, though a task runs through it, whose
// end keeps the leader in its place.
func TestAColumnThatWasOfAnotherTypeForAWhile(t *testing.T) {
	t.Parallel()
	s := play(t)
	running := s.add("input", "SELECT pg_advisory_lock(7)")
	s.exec("SELECT pg_advisory_lock(7)")
	s.becomes(running, "WORK")
	s.exec("ALTER TABLE task ALTER id TYPE numeric")
	s.says("numeric")
	waiting := s.add("input, priority", "SELECT 1", 0) // a statement of its own
	s.exec("ALTER TABLE task ALTER id TYPE bigint; SELECT pg_advisory_unlock(7)")
	s.becomes(running, "DONE")
	s.becomes(waiting, "DONE")
}
