package exec

import (
	"strconv"
	"testing"
	"time"
)

// TestXact: the question returns the transaction id of a task that writes, with which we can ask
// for the status later. It returns none for other tasks.
func TestXact(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE SEQUENCE drawn; CREATE TABLE drawn_by (); INSERT INTO ends VALUES (1)")
	for input, wrote := range map[string]bool{
		"": false, "SELECT 1": false, "SHOW work_mem": false, "SELECT count(*) FROM ends": false, "TABLE ends; VALUES (1)": false, "SELECT set_config('a.b', 'c', false)": false,
		"SET work_mem = '1MB'": false, "PREPARE p AS SELECT 1": false, "SELECT pg_advisory_lock(1)": false, "DECLARE c CURSOR FOR SELECT 1": false, "LOCK TABLE ends IN ROW SHARE MODE": false,
		"DELETE FROM ends WHERE false": false, "SAVEPOINT a; SELECT 1; ROLLBACK TO a": false, "LISTEN a": false, "COPY ends TO STDOUT": false,
		"INSERT INTO ends VALUES (2)": true, "UPDATE ends SET id = id": true, "SELECT * FROM ends FOR UPDATE": true, "SELECT * FROM ends FOR KEY SHARE": true, "CREATE TEMP TABLE x ()": true,
		"SELECT setval('drawn', 5)": true, "SELECT lo_creat(-1)": true, "SELECT lo_create(0)": true, "LOCK TABLE drawn_by": true, "SELECT txid_current()": true, "TRUNCATE ends; ROLLBACK TO nowhere": false,
		"SAVEPOINT a; INSERT INTO ends VALUES (3); ROLLBACK TO a":                                                                 true,
		"DO $$BEGIN BEGIN INSERT INTO public.ends VALUES (1); EXCEPTION WHEN division_by_zero THEN NULL; END; END$$":              true,
		"DO $$BEGIN BEGIN INSERT INTO public.ends VALUES (5); PERFORM 1/0; EXCEPTION WHEN division_by_zero THEN NULL; END; END$$": true,
		"WITH a AS (INSERT INTO ends VALUES (4) RETURNING id) SELECT id FROM a":                                                   true,
	} {
		before := b.get("SELECT clock_timestamp()")
		result, _ := b.run(spec(input), nil)
		if result.Wrote() != wrote || result.Wrote() != (result.Xact != 0) {
			t.Errorf("%s: %d", input, result.Xact)
		}
		if !result.Open {
			continue
		}
		if b.get("SELECT $1::timestamptz BETWEEN $2::text::timestamptz AND clock_timestamp()", result.Stop, before) != "true" {
			t.Errorf("%s ended at %s", input, result.Stop)
		}
		xact := strconv.FormatInt(result.Xact, 10)
		if wrote && b.get("SELECT txid_status($1::int8)", result.Xact) != "in progress" {
			t.Errorf("%s: %s is not in progress", input, xact)
		}
		if b.end(result); wrote && b.get("SELECT txid_status($1::int8)", result.Xact) != "committed" {
			t.Errorf("%s: %s is not committed", input, xact)
		}
	}
}

// TestEffectsWithoutAnIdForceOne: a task with effects that give no id, or that may act at COMMIT,
// still gets a transaction id.
func TestEffectsWithoutAnIdForceOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, change := range []func(*Task){func(k *Task) { k.Forced = true }, func(k *Task) { k.Save = true }} {
		for _, input := range []string{"NOTIFY a", "SELECT count(*) FROM ends", "SHOW work_mem", "DECLARE c CURSOR WITH HOLD FOR SELECT 1", "SELECT now()"} {
			task := spec(input)
			change(task)
			result, _ := b.run(task, nil)
			if !result.Open || b.get("SELECT txid_status($1::int8)", result.Xact) != "in progress" {
				t.Errorf("%s: %+v %v", input, result, result.Failure)
			}
			b.end(result)
			b.alive()
		}
		constant := spec("SELECT 1")
		if change(constant); b.xact(constant) != 0 {
			t.Error("a constant has one")
		}
	}
}

// xact runs a task and returns its transaction id.
func (b *bench) xact(task *Task) int64 {
	b.t.Helper()
	result, _ := b.run(task, nil)
	b.end(result)
	return result.Xact
}

// TestHeldCursorsAreClosedBeforeTheQuestion: a cursor WITH HOLD is closed before the question, so
// it does not run at COMMIT, after the question. The question sees the effects of rows that were
// fetched. With save the cursor stays, and runs at COMMIT.
func TestHeldCursorsAreClosedBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE FUNCTION writes() RETURNS int4 LANGUAGE sql AS 'INSERT INTO ends VALUES (1) RETURNING 1'")
	b.exec("CREATE FUNCTION declares() RETURNS int4 LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT writes()'; RETURN 1; END$$")
	const declare = "DECLARE c CURSOR WITH HOLD FOR SELECT writes()"
	for _, c := range []struct {
		input         string
		save, wrote   bool
		effects, kept string
	}{
		{declare, false, false, "0", "0"},
		{"SELECT declares()", false, false, "0", "0"},
		{declare + "; FETCH c", false, true, "1", "0"},
		{declare, true, true, "1", "1"},
		{"SELECT declares()", true, true, "1", "1"},
	} {
		b.exec("TRUNCATE ends")
		task := spec(c.input)
		task.Save = c.save
		result, _ := b.run(task, nil)
		if b.end(result); result.Wrote() != c.wrote || b.get("SELECT count(*) FROM ends") != c.effects {
			t.Errorf("%+v: %d, %s effects", c, result.Xact, b.get("SELECT count(*) FROM ends"))
		}
		next := spec("SELECT count(*) FROM pg_cursors WHERE name = 'c'")
		next.Save, next.Keep = c.save, c.save
		if kept, _ := b.run(next, nil); output(kept) != c.kept {
			t.Errorf("%+v: %s cursors are kept", c, output(kept))
		}
		b.rollback()
		b.alive()
	}
	b.exec("TRUNCATE ends")
	if results, _ := b.pipe(spec("SELECT 1"), spec("SELECT declares()"), spec("SELECT 2")); len(results) != 3 || b.get("SELECT count(*) FROM ends") != "0" {
		t.Errorf("in a pipeline: %d have run, %s effects", len(results), b.get("SELECT count(*) FROM ends"))
	}
	b.alone()
}

// TestNothingOfOursIsPrepared: no task sees a prepared statement of ours, in whatever way it runs,
// although we prepare some while only constants run.
func TestNothingOfOursIsPrepared(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const look = "SELECT count(*) FROM pg_prepared_statements"
	var tail *Tail
	for i := range 5 {
		result, _ := b.run(spec(look), tail)
		if tail = (&Tail{}); output(result) != "0" {
			t.Errorf("task %d sees %s", i, output(result))
		}
	}
	constant := spec("SELECT 1")
	for _, save := range []bool{false, true} {
		constant.Save = save
		for _, keep := range []bool{false, save} {
			for range 3 {
				b.run(spec("SELECT 1"), tail)
				b.run(constant, tail)
			}
			if len(b.session.setup.state.known) == 0 {
				t.Errorf("save %t: nothing is prepared for constants", save)
			}
			after := spec(look + "; DEALLOCATE ALL; PREPARE pgtaskd_0 AS SELECT 1")
			after.Save, after.Keep = save, keep
			if result, _ := b.run(after, tail); output(result) != "0\nDEALLOCATE ALL\nPREPARE" {
				t.Errorf("after constants, save %t, keep %t: %s %v", save, keep, output(result), result.Failure)
			}
			b.aliveAfter(tail)
		}
	}
	first, _ := b.run(spec(look), nil)
	if output(first) != "0" {
		t.Error(output(first))
	}
	own := spec(look)
	own.Own, own.Save, own.Keep, own.Timeout = [][2]string{{"my.own", "x"}}, true, true, time.Minute
	if result, _ := b.run(own, tail); output(result) != "0" {
		t.Error("with save:", output(result))
	}
	b.rollback()
	results, _ := b.pipe(spec(look), spec("SELECT 1"), spec(look), spec(look))
	for i, result := range results {
		if i != 1 && output(result) != "0" {
			t.Errorf("task %d of a pipeline sees %s", i, output(result))
		}
	}
	b.alone()
}

// TestNoLimitEndsATransactionThatWaitsForItsCommit: no limit that the SQL has set ends the
// transaction while it waits after the question.
func TestNoLimitEndsATransactionThatWaitsForItsCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, limit := range []string{"idle_in_transaction_session_timeout", "statement_timeout", "transaction_timeout"} {
		if b.get("SELECT current_setting($1, true) IS NULL", limit) == "true" {
			continue // before PostgreSQL 17
		}
		for _, kind := range []func(*Task){func(*Task) {}, func(k *Task) { k.Save = true }, func(k *Task) { k.Forced = true }} {
			task := spec("INSERT INTO ends VALUES (1); SET " + limit + " TO '50ms'")
			kind(task)
			result, _ := b.run(task, nil)
			time.Sleep(150 * time.Millisecond)
			if verdict := b.end(result); verdict == nil || !verdict.Committed {
				t.Errorf("%s: %+v %v", limit, verdict, result.Failure)
			}
			b.alive()
		}
	}
}
