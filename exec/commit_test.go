package exec

import (
	"errors"
	"testing"
	"time"
)

// TestRollback: the task leaves nothing, and the session is as good as new.
func TestRollback(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rollback() // nothing to roll back
	for _, input := range []string{
		"INSERT INTO ends VALUES (1)", "INSERT INTO ends VALUES (1); SET work_mem = '1MB'; PREPARE p AS SELECT 1; SELECT pg_advisory_lock(1)", "SELECT 1", "CREATE TEMP TABLE mine (); SET statement_timeout TO 1000",
	} {
		result, _ := b.run(spec(input), nil)
		if !result.Open {
			t.Fatal(input, result.Failure)
		}
		b.rollback()
		if result.Wrote() && b.get("SELECT txid_status($1::int8)", result.Xact) != "aborted" {
			t.Errorf("%s: %d is not aborted", input, result.Xact)
		}
		b.alive()
	}
	if rows := b.get("SELECT count(*) FROM ends"); rows != "0" {
		t.Error(rows, "effects")
	}
	b.run(spec("INSERT INTO ends VALUES (1)"), nil)
	b.terminate()
	if err := b.session.Rollback(); !errors.As(err, new(*Lost)) {
		t.Error(err)
	}
}

// TestRollbackOfAChained: the rollback of a chained transaction undoes the settings of its task.
// The next task still gets its own.
func TestRollbackOfAChained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := func(input, data string, timeout time.Duration) *Task {
		task := spec(input)
		task.Usual, task.Timeout = Usual{{{"pg_task.group", "g"}}, {{"pg_task.data", data}}}, timeout
		return task
	}
	b.run(task("SELECT 1", "a", time.Minute), nil)
	for _, input := range []string{"SELECT 2", "SELECT 'a' 'b'", "SELECT 1/0"} {
		result, verdict := b.run(task(input, "b", 0), &Tail{})
		if !verdict.Committed || result.Open != (input == "SELECT 2") {
			t.Fatalf("%s: %+v %+v", input, verdict, result)
		}
		b.rollback()
		shown, _ := b.run(task("SELECT current_setting('pg_task.data') || ' ' || current_setting('statement_timeout')", "b", 0), nil)
		if output(shown) != "b 0" {
			t.Errorf("after %s: %s %v", input, output(shown), shown.Failure)
		}
		b.run(task("SELECT 1", "a", time.Minute), &Tail{})
	}
}

// TestCommit: the verdict says whether the transaction is committed, and why not.
func TestCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE later (id int4 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	for _, chained := range []bool{false, true} {
		for input, want := range map[string]string{"INSERT INTO later VALUES (1)": "", "INSERT INTO later VALUES (1), (1)": "23505", "SELECT 1": ""} {
			b.exec("TRUNCATE later")
			result, _ := b.run(spec(input), nil)
			tail, verdict := &Tail{Input: input}, (*Verdict)(nil)
			if chained {
				var next *Result
				next, verdict = b.run(spec("SELECT 2"), tail)
				if output(next) != "2" {
					t.Errorf("after %s: %s", input, output(next))
				}
				b.end(next)
			} else {
				var err error
				if verdict, err = b.session.End(tail); err != nil {
					t.Fatal(err)
				}
			}
			status := map[bool]string{true: "committed", false: "aborted"}[want == ""]
			if verdict.Committed != (want == "") || code(verdict.Failure) != want || result.Wrote() && b.get("SELECT txid_status($1::int8)", result.Xact) != status {
				t.Errorf("%s: %+v", input, verdict)
			}
			b.alive()
		}
	}
}

// TestCommitTakesItsTime: a statement_timeout that the SQL has set does not end the COMMIT.
func TestCommitTakesItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`CREATE FUNCTION lasts() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END$$;
		CREATE CONSTRAINT TRIGGER lasts AFTER INSERT ON ends DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION lasts()`)
	task := spec("INSERT INTO ends VALUES (1); SET statement_timeout TO 200")
	task.Timeout = 300 * time.Millisecond
	result, _ := b.run(task, nil)
	if verdict := b.end(result); verdict == nil || !verdict.Committed {
		t.Errorf("%+v %v", verdict, result.Failure)
	}
}
