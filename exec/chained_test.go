package exec

import (
	"strings"
	"testing"
)

// TestAChainedTransactionIsAsGoodAsOneOfItsOwn: a transaction that COMMIT AND CHAIN begins has no
// modes and settings of the previous one.
func TestAChainedTransactionIsAsGoodAsOneOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const modes = "INSERT INTO ends VALUES (1); SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')"
	for _, input := range []string{
		"SELECT 1", "SET TRANSACTION READ ONLY", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN READ ONLY; SELECT 1", "SELECT set_config('transaction_read_only', 'on', true)",
		"SELECT set_config('default_transaction_isolation', 'serializable', false)", "SELECT set_config('default_transaction_read_only', 'on', false)",
		"SET default_transaction_read_only = on", "LISTEN a", "SET work_mem = '1MB'", "CREATE TEMP TABLE mine ()", "INSERT INTO ends VALUES (1)",
		"DECLARE c CURSOR WITH HOLD FOR SELECT 1",
	} {
		first, _ := b.run(spec(input), nil)
		second, _ := b.run(spec(modes), &Tail{})
		if output(second) != "INSERT 0 1\ncurrent_setting\tcurrent_setting\nread committed\toff" {
			t.Error(input, first.Failure, output(second), second.Failure)
		}
		b.end(second)
		first, _ = b.run(spec(input), nil)
		failed, _ := b.run(spec("SELECT 1/0"), &Tail{})
		after, _ := b.run(spec(leftovers), nil)
		if failure(failed) != "22012" || output(after) != "<null>" {
			t.Error(input, first.Failure, failed.Failure, "leaves", output(after), after.Failure)
		}
		b.end(after)
	}
}

// TestChainingKeepsTheStateOfTheSession: tasks with save find it, whether they are chained or not.
func TestChainingKeepsTheStateOfTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	keeps := func(input string) *Task {
		task := spec(input)
		task.Save, task.Keep = true, true
		return task
	}
	for _, input := range []string{
		"SELECT 1", "SET TRANSACTION READ ONLY", "SELECT set_config('transaction_read_only', 'on', true)", "SELECT pg_advisory_lock(8)",
	} {
		first := keeps("CREATE TEMP TABLE mine AS SELECT 5 AS a; SELECT pg_advisory_lock(7), set_config('my.own', 'x', false)")
		first.Keep = false
		_, _ = b.run(first, nil)
		_, _ = b.run(keeps(input), &Tail{})
		last, _ := b.run(keeps("INSERT INTO mine VALUES (1); SELECT count(*), current_setting('my.own'), pg_advisory_unlock(7) FROM mine"), &Tail{})
		if output(last) != "INSERT 0 1\ncount\tcurrent_setting\tpg_advisory_unlock\n2\tx\tt" {
			t.Error(input, output(last), last.Failure)
		}
		b.end(last)
	}
	b.session.Close()
	b.open() // the next tasks set other names
	for _, input := range []string{"SELECT 1", "RESET ALL", "SELECT 1/0", "BEGIN; SELECT 1; ROLLBACK", "DISCARD ALL", "RESET pg_task.data"} {
		usual := keeps(input)
		usual.Usual = Usual{{{"pg_task.group", "g"}}, {{"pg_task.data", "d"}}}
		before, _ := b.run(usual, nil)
		b.end(before)
		for range 2 {
			usual = keeps("SELECT current_setting('pg_task.group'), current_setting('pg_task.data')")
			usual.Usual = Usual{{{"pg_task.group", "g"}}, {{"pg_task.data", "d"}}}
			last, _ := b.run(usual, nil)
			if output(last) != "current_setting\tcurrent_setting\ng\td" {
				t.Error(input, output(last), last.Failure)
			}
			b.end(last)
		}
	}
	b.session.Close()
	b.open()
	_, _ = b.run(keeps("SELECT set_config('default_transaction_read_only', 'on', false)"), nil)
	last, _ := b.run(keeps("SELECT current_setting('transaction_read_only')"), &Tail{})
	if output(last) != "on" {
		t.Error("the mode that was asked for: ", output(last))
	}
}

// TestAResetThatTheServerHasPassedOverIsRepeated: the COMMIT before the reset fails, so the server
// skips the reset.
func TestAResetThatTheServerHasPassedOverIsRepeated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE later (id int4 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	for _, next := range []string{"EXECUTE foo", "SELECT 1; EXECUTE foo"} {
		b.run(spec("PREPARE foo AS SELECT 42; INSERT INTO later VALUES (1), (1)"), nil)
		result, verdict := b.run(spec(next), &Tail{Input: "theirs"})
		if verdict == nil || verdict.Committed || code(verdict.Failure) != "23505" || !strings.Contains(verdict.Failure.Text, "STATEMENT:  theirs") || failure(result) != "26000" {
			t.Fatalf("%+v %+v", verdict, result)
		}
		b.alive()
	}
	if rows := b.get("SELECT count(*) FROM later"); rows != "0" {
		t.Error(rows, "effects")
	}
}
