package exec

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
)

// leftovers shows a row for whatever a task may have left in its session, the statements that we
// keep prepared aside. It is a view, since an input that names the list of prepared statements is
// given an empty one.
const leftovers = `CREATE VIEW leftovers AS SELECT 'setting ' || name || ' ' || setting FROM pg_settings WHERE source = 'session' AND name NOT IN ('application_name', 'pg_task.x')
		AND NOT (name LIKE 'transaction\_%' AND setting IN ('read committed', 'off'))
	UNION ALL SELECT 'prepared ' || name FROM pg_prepared_statements WHERE name NOT LIKE 'pgtaskd\_%'
	UNION ALL SELECT 'listens ' || pg_listening_channels()
	UNION ALL SELECT 'locks ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
	UNION ALL SELECT 'cursor ' || name FROM pg_cursors
	UNION ALL SELECT 'role ' || current_user WHERE current_user <> 'postgres' OR session_user <> 'postgres'
	UNION ALL SELECT 'table' WHERE to_regclass('mine') IS NOT NULL
	UNION ALL SELECT 'own setting' WHERE current_setting('my.own', true) <> ''`

// TestResetAfterCommit: what a trigger makes at COMMIT, after we have asked what the task has made,
// goes as well.
func TestResetAfterCommit(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"SELECT 1", "DO $$BEGIN END$$"} {
		b := newBench(t)
		b.exec(leftovers)
		b.exec(`CREATE TABLE late (a int);
			CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN CREATE TEMP TABLE mine (); RETURN NULL; END$$;
			CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()`)
		b.run(spec(before), nil)
		b.run(spec("INSERT INTO late VALUES (1)"), &Tail{})
		after, _ := b.run(spec("SELECT * FROM leftovers"), &Tail{})
		if text := output(after); text != "<null>" || !after.Open {
			t.Errorf("behind %s it leaves %s %v", before, text, after.Failure)
		}
		b.end(after, "")
	}
}

func TestResetLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(leftovers)
	b.exec(`CREATE ROLE reset_other; CREATE SEQUENCE beads;
		CREATE FUNCTION prepares() RETURNS void LANGUAGE plpgsql AS $$BEGIN EXECUTE 'PREPARE hidden AS SELECT 1'; END$$`)
	t.Cleanup(func() { _, _ = b.watch.Exec(context.WithoutCancel(t.Context()), "DROP ROLE reset_other") })
	for _, input := range []string{
		"SELECT 1", "SET work_mem = '1MB'", "SELECT set_config('my.own', 'x', false)", "SET ROLE reset_other", "SET SESSION AUTHORIZATION reset_other",
		"LISTEN a", "PREPARE p AS SELECT 1", "SELECT 1; PREPARE p AS SELECT 1; SELECT 2", "SELECT prepares()",
		"DO $$BEGIN EXECUTE 'PREPARE inner AS SELECT 1'; END$$", "SELECT pg_advisory_lock(7), pg_advisory_lock(7)", "CREATE TEMP TABLE mine ()",
		"SELECT nextval('beads')", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "DO $$BEGIN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT 1'; END$$",
		"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SELECT pg_advisory_lock(7); SET work_mem = '1MB'; SELECT 1/0",
		"BEGIN; CREATE TEMP TABLE mine (); PREPARE p AS SELECT 1; LISTEN b; COMMIT", "VACUUM ends", "SET client_encoding = LATIN1",
	} {
		result, _ := b.run(spec(input), nil)
		tail := &Tail{}
		if !result.Open {
			tail = nil
		}
		after, _ := b.run(spec("SELECT * FROM leftovers"), tail)
		if text := output(after); text != "<null>" || !after.Open {
			t.Errorf("%s leaves %s %v", input, text, after.Failure)
		}
		last, _ := b.run(spec("SELECT currval('beads')"), &Tail{})
		if failure(last) != "55000" {
			t.Errorf("%s leaves the sequence's value", input)
		}
		b.alive()
	}
}

// TestChained: a transaction that follows on another's is as good as one of its own.
func TestChained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(leftovers)
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
		b.end(second, "")
		first, _ = b.run(spec(input), nil)
		failed, _ := b.run(spec("SELECT 1/0"), &Tail{})
		after, _ := b.run(spec("SELECT * FROM leftovers"), nil)
		if failure(failed) != "22012" || output(after) != "<null>" {
			t.Error(input, first.Failure, failed.Failure, "leaves", output(after), after.Failure)
		}
		b.end(after, "")
	}
}

// TestChainedWithState: what a chained transaction finds kept is not touched by finding out whether
// it can follow on.
func TestChainedWithState(t *testing.T) {
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
		b.end(last, "")
	}
	for _, input := range []string{"SELECT 1", "RESET ALL", "SELECT 1/0", "BEGIN; SELECT 1; ROLLBACK", "DISCARD ALL", "RESET pg_task.data"} {
		usual := keeps(input)
		usual.Usual = Usual{{{"pg_task.group", "g"}}, {{"pg_task.data", "d"}}}
		_, _ = b.run(usual, nil)
		for range 2 {
			usual = keeps("SELECT current_setting('pg_task.group'), current_setting('pg_task.data')")
			usual.Usual = Usual{{{"pg_task.group", "g"}}, {{"pg_task.data", "d"}}}
			last, _ := b.run(usual, nil)
			if output(last) != "current_setting\tcurrent_setting\ng\td" {
				t.Error(input, output(last), last.Failure)
			}
			b.end(last, "")
		}
	}
	_, _ = b.run(keeps("SELECT set_config('default_transaction_read_only', 'on', false)"), nil)
	last, _ := b.run(keeps("SELECT current_setting('transaction_read_only')"), &Tail{})
	if output(last) != "on" {
		t.Error("the mode that was asked for: ", output(last))
	}
}

// TestOursStayPrepared: what makes the way of a task short is kept from one to the next.
func TestOursStayPrepared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE VIEW ours AS SELECT extract(epoch FROM min(prepare_time)) AS oldest FROM pg_prepared_statements WHERE name LIKE 'pgtaskd\\_%'")
	const oldest = "SELECT * FROM ours"
	first, _ := b.run(spec(oldest), nil)
	second, _ := b.run(spec(oldest), &Tail{})
	third, _ := b.run(spec(oldest), &Tail{})
	b.end(third, "")
	if output(first) == "<null>" || output(first) != output(second) || output(second) != output(third) {
		t.Error(output(first), output(second), output(third))
	}
	shown, _ := b.run(spec("SELECT count(*) FROM pg_prepared_statements"), nil)
	if b.end(shown, ""); output(shown) != "0" {
		t.Error("a task sees ", output(shown), " prepared statements of ours")
	}
}

// TestDeallocate: our prepared statements may go at any time.
func TestDeallocate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{
		"INSERT INTO ends VALUES (1); DEALLOCATE ALL",
		"INSERT INTO ends VALUES (1); DO $$BEGIN EXECUTE 'DEALLOCATE ALL'; END$$",
	} {
		b.alive()
		task := spec(input)
		result, _ := b.run(task, nil)
		if result.Forgot {
			if result.Open || b.get("SELECT count(*) FROM ends") != "0" {
				t.Errorf("%s: %+v, %s rows", input, result, b.get("SELECT count(*) FROM ends"))
			}
			task.Wary = true
			result, _ = b.run(task, nil)
		}
		if !result.Open || !result.Wrote {
			t.Errorf("%s: %+v %v", input, result, result.Failure)
		}
		if verdict := b.end(result, "DELETE FROM public.ends"); verdict == nil || !verdict.Committed {
			t.Errorf("%s: %+v", input, verdict)
		}
	}
	// What is gone without our knowledge is found out when it is wanted.
	b.alive()
	taken := spec("DEALLOCATE ALL")
	taken.Traits.Prepared, taken.Wary = false, true
	result, _ := b.run(taken, nil)
	b.session.hard = false
	b.end(result, "")
	b.alive()
}

// TestCancelDuringPreparation: whatever a cancel request of somebody else's meets, no effect stays
// of what was not committed.
func TestCancelDuringPreparation(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, _ = b.watch.Exec(ctx, "SELECT pg_cancel_backend($1)", int32(b.session.PID))
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	committed, failed := 0, 0
	count := func(v *Verdict) {
		if v != nil && v.Committed {
			committed++
		}
	}
	var tail *Tail
	for range 2000 {
		task := spec("INSERT INTO ends VALUES (1)")
		verdict, _, err := b.session.Begin(tail, task)
		count(verdict)
		tail = nil
		var refused *Failure
		if errors.As(err, &refused) {
			failed++
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		result, err := b.session.Await(task)
		if err != nil {
			t.Fatal(err)
		}
		if result.Open {
			tail = &Tail{Calls: calls("SELECT 1")}
		} else {
			failed++
		}
	}
	cancel()
	<-done
	if tail != nil {
		verdict, err := b.session.End(tail)
		if err != nil {
			t.Fatal(err)
		}
		count(verdict)
	}
	looking, err := pgx.Connect(t.Context(), b.dsn) // the other connection is gone with its context
	if err != nil {
		t.Fatal(err)
	}
	defer looking.Close(t.Context())
	var rows int
	if err := looking.QueryRow(t.Context(), "SELECT count(*) FROM ends").Scan(&rows); err != nil || rows != committed || failed == 0 || committed == 0 {
		t.Errorf("%d effects, %d committed, %d failed, %v", rows, committed, failed, err)
	}
}

// TestResetPassedOver: where the server has passed over a reset, because what came before it has
// failed, what others have prepared is still there, and is known to be.
func TestResetPassedOver(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := spec("PREPARE foo AS SELECT 42; INSERT INTO ends VALUES (1, 'x')")
	first.Wary = true
	if _, _, err := b.session.Begin(nil, first); err != nil {
		t.Fatal(err)
	}
	if _, err := b.session.Await(first); err != nil {
		t.Fatal(err)
	}
	result, verdict := b.run(spec("EXECUTE foo"), &Tail{Calls: []Call{{Statement: &Statement{"pgtaskd_done", "SELECT 1/0"}}}})
	if verdict == nil || verdict.Refused == nil || result.Failure == nil || result.Failure.SQLState != "26000" {
		t.Fatalf("%+v %+v", verdict, result)
	}
	b.run(spec("INSERT INTO ends VALUES (2, 'y')"), nil)
	verdict, err := b.session.End(&Tail{Calls: []Call{{Statement: &Statement{"pgtaskd_done", "SELECT 1"}}}})
	if err != nil || !verdict.Committed {
		t.Errorf("%+v %v", verdict, err)
	}
}
