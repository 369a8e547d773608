//go:build slow

package work

import (
	"fmt"
	"testing"

	"pgtaskd/server/servertest"
)

// TestConflictsBetweenOurTransactionsSpendNoRetry: our serializable transactions can abort each
// other. Their tasks end well after one attempt, and lose no retry.
func TestConflictsBetweenOurTransactionsSpendNoRetry(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name, before, input string
		tasks               int
	}{
		{"by default", "ALTER DATABASE %s SET default_transaction_isolation = 'serializable'", "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8)", 400},
		{"by the input", "", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; INSERT INTO effect VALUES (current_setting('pg_task.id')::int8)", 400},
		{"repetitions", "ALTER DATABASE %s SET default_transaction_isolation = 'serializable'", "INSERT INTO effect VALUES (current_setting('pg_task.id')::int8)", 100},
	} {
		if !servertest.Thorough && i%4 != 1 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := prepared(t, func(t *Target) { t.Run = 16 })
			if c.before != "" {
				s.exec(fmt.Sprintf(c.before, s.get("SELECT current_database()")))
			}
			s.exec("CREATE TABLE effect (id int8)")
			s.serve()
			s.settled()
			s.exec(`INSERT INTO task ("group", repeat, input) SELECT 'g' || i % 16, CASE $2 WHEN 'repetitions' THEN interval '1 day' ELSE '0' END, $1
				FROM generate_series(1, $3) AS i`, c.input, c.name, c.tasks)
			s.eventually("0", "SELECT count(*) FROM task WHERE parent IS NULL AND state NOT IN ('DONE', 'FAIL')")
			if failed := s.get("SELECT count(*) || min(error) FROM task WHERE state = 'FAIL'"); failed != "NULL" {
				t.Error(failed)
			}
			if odd := s.get("SELECT count(*) FROM (SELECT id FROM effect GROUP BY id HAVING count(*) = 1) AS e JOIN task USING (id) WHERE state = 'DONE' AND attempt = 1"); odd != fmt.Sprint(c.tasks) {
				t.Errorf("%s of %d took effect once", odd, c.tasks)
			}
		})
	}
}

// TestAConflictAtEachCommitFailsInTheEnd: a task that conflicts with another transaction at each
// COMMIT fails after some tries.
func TestAConflictAtEachCommitFailsInTheEnd(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`CREATE TABLE odd (id int8); CREATE SEQUENCE runs; CREATE TABLE held (id int8); INSERT INTO held VALUES (1);
		CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM nextval('public.runs'); PERFORM FROM public.held FOR UPDATE NOWAIT; RETURN NULL; END$$;
		CREATE CONSTRAINT TRIGGER odd AFTER INSERT ON odd DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION odd()`)
	other := s.connect()
	must(t, other, "BEGIN")
	must(t, other, "SELECT FROM held FOR UPDATE")
	id := s.add("input", "INSERT INTO odd VALUES (1)")
	s.becomes(id, "FAIL")
	if got := s.get("SELECT sqlstate || ' ' || (SELECT last_value FROM runs) FROM task WHERE id = $1", id); got != "55P03 6" {
		t.Error(got)
	}
}

// TestARaisedConflictFailsTheTask: an input that raises a conflict at COMMIT fails at once, as with
// any error, and uses its retries.
func TestARaisedConflictFailsTheTask(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"40001", "40P01", "55P03"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("CREATE SEQUENCE runs")
			const input = `SELECT nextval('runs'); CREATE TEMP TABLE t (x int);
				CREATE FUNCTION pg_temp.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''x'' USING ERRCODE=''%s''; END';
				CREATE CONSTRAINT TRIGGER d AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pg_temp.f();
				INSERT INTO t VALUES (1)`
			for retries, runs := range []string{"1", "2"} {
				id := s.add("input, retry, backoff", fmt.Sprintf(input, code), retries, "1 ms")
				s.becomes(id, "FAIL")
				if got := s.get("SELECT concat_ws(' ', sqlstate, attempt, (SELECT last_value FROM runs)) FROM task WHERE id = $1", id); got != code+" "+runs+" "+runs {
					t.Errorf("%d retries: %s", retries, got)
				}
				s.exec("ALTER SEQUENCE runs RESTART")
			}
		})
	}
}
