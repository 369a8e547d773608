package exec

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE TABLE t (a int4 UNIQUE DEFERRABLE INITIALLY DEFERRED)")
	b.exec("CREATE PROCEDURE p() LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.t VALUES (7); COMMIT; END$$")
	b.exec("CREATE ROLE someone_else")
	b.t.Cleanup(func() { _, _ = b.watch.Exec(context.WithoutCancel(t.Context()), "DROP ROLE someone_else") })
	for _, c := range []struct {
		input, output, state string
		open                 bool
	}{
		{"", "<null>", "", true},
		{" \n\t", "<null>", "", true},
		{"-- nothing", "<null>", "", true},
		{"/* nothing */;;", "<null>", "", true},
		{"SELECT 1 AS a", "1", "", true},
		{"SELECT 1 AS a, 2 AS b;SELECT 3 AS c", "a\tb\n1\t2\n3", "", true},
		{"SELECT 1 WHERE false", "<null>", "", true},
		{"SELECT pg_sleep(0)", "", "", true},
		{"SELECT NULL::text, 1", "text\t?column?\n\\N\t1", "", true},
		{"COPY (SELECT generate_series(1, 3)) TO STDOUT", "1\n2\n3\n", "", true},
		{"COPY (SELECT 1) TO STDOUT (FORMAT binary)", "*", "0A000", false},
		{"COPY t FROM STDIN", "<null>", "57014", false},
		{"SELECT 1; COPY t FROM STDIN; SELECT 2", "1", "57014", false},
		{"COPY t FROM STDOUT", "<null>", "57014", false},
		{"COPY t FROM STDIN; COPY t FROM STDIN", "<null>", "57014", false},
		{"BEGIN; INSERT INTO t VALUES (1)", "BEGIN\nINSERT 0 1", "", true},
		{"BEGIN; SELECT 1; COMMIT", "BEGIN\n1\nCOMMIT", "", false},
		{"BEGIN; SELECT 1/0", "BEGIN", "22012", false},
		{"COMMIT AND CHAIN; SELECT 1", "*", "25P01", false},
		{"BEGIN; COMMIT AND CHAIN; INSERT INTO t VALUES (2)", "BEGIN\nCOMMIT\nINSERT 0 1", "", false},
		{"BEGIN; INSERT INTO t VALUES (3); PREPARE TRANSACTION 'x'", "BEGIN\nINSERT 0 1\nPREPARE TRANSACTION", "", false},
		{"COMMIT PREPARED 'x'", "COMMIT PREPARED", "", false},
		{"VACUUM t", "VACUUM", "", false},
		{"CALL p()", "<null>", "2D000", false},
		{"SELECT 1; SELECT 1/0; SELECT 2", "1", "22012", false},
		{"SELECT E'\\xff'", "<null>", "22021", false},
		{"RESET ALL", "RESET", "", true},
		{"DISCARD PLANS; DEALLOCATE ALL", "DISCARD PLANS\nDEALLOCATE ALL", "", true},
		{"DISCARD ALL", "DISCARD ALL", "", false},
		{"SET TRANSACTION READ ONLY; SELECT 1", "SET\n1", "", true},
		{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1", "SET\n1", "", true},
		{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET", "", true},
		{"SET ROLE someone_else", "SET", "", true},
		{"SET SESSION AUTHORIZATION someone_else", "SET", "", true},
		{"SET client_encoding = LATIN1; SELECT 'é'", "SET\n\ufffd", "", true},
		{"SET search_path = nowhere; SET standard_conforming_strings = off; SET DateStyle = 'SQL, DMY'", "SET\nSET\nSET", "", true},
		{"SET statement_timeout = '1min'", "SET", "", true},
		{"SAVEPOINT s; INSERT INTO t VALUES (1); ROLLBACK TO s", "SAVEPOINT\nINSERT 0 1\nROLLBACK", "", true},
		{"DECLARE c CURSOR WITH HOLD FOR SELECT 1", "DECLARE CURSOR", "", true},
		{"LISTEN x; NOTIFY x", "LISTEN\nNOTIFY", "", true},
		{"INSERT INTO t VALUES (10), (10)", "INSERT 0 2", "", true},
	} {
		result, _ := b.run(spec(c.input), nil)
		got := strings.ReplaceAll(output(result), "é", "\ufffd") // before 14 a server tells of a new encoding at once
		if c.output != "*" && got != c.output || failure(result) != c.state || result.Open != c.open {
			t.Errorf("%s: %q %s open %t, want %q %s open %t (%v)", c.input, output(result), failure(result), result.Open, c.output, c.state, c.open, result.Failure)
		}
		verdict := b.end(result, "SELECT 1 / (SELECT 1)")
		if deferred := strings.Contains(c.input, "(10), (10)"); verdict != nil && (verdict.Committed == deferred || (verdict.Deferred != nil) != deferred) {
			t.Errorf("%s: verdict %+v", c.input, verdict)
		}
		b.alive()
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE PROCEDURE p(text) LANGUAGE plpgsql AS $$BEGIN EXECUTE $1; END$$")
	b.exec("CREATE PROCEDURE c() LANGUAGE plpgsql AS $$BEGIN COMMIT; END$$; CREATE PROCEDURE r() LANGUAGE plpgsql AS $$BEGIN ROLLBACK; END$$")
	for input, retry := range map[string]bool{
		"CALL c()": true, "CALL r()": true,
		"DO $$BEGIN RAISE 'x' USING ERRCODE = '25001'; END$$": false, "DO $$BEGIN RAISE 'x' USING ERRCODE = '2D000'; END$$": false,
		"SELECT 1/0": false, "SELECT 1": false,
	} {
		result, _ := b.run(spec(input), nil)
		if result.Retry() != retry {
			t.Errorf("%s: retry %t", input, !retry)
		}
		b.end(result, "")
	}
	within := spec("CREATE DATABASE hidden")
	within.Atomic = true // as if the lexer had not seen it
	if result, _ := b.run(within, nil); !result.Retry() {
		t.Error("CREATE DATABASE in a transaction: ", result.Failure)
	}
}

// TestHiddenCommit: an input that ends our transaction by means that nobody has seen is never
// finished in the next one.
func TestHiddenCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, input := range []string{
		"COMMIT; BEGIN", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN", "COMMIT; BEGIN; INSERT INTO ends VALUES (1, 'x')",
		"INSERT INTO ends VALUES (2, 'x'); PREPARE TRANSACTION 'hidden'", "ROLLBACK PREPARED 'hidden'", "COMMIT", "ROLLBACK", "END; SELECT 1",
	} {
		within := spec(input)
		within.Atomic = !strings.HasPrefix(input, "ROLLBACK PREPARED")
		result, _ := b.run(within, nil)
		if result.Open {
			t.Errorf("%s: taken for our own transaction", input)
			b.end(result, "")
		}
		b.alive()
	}
}

func TestWrote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for input, wrote := range map[string]bool{
		"SELECT 1": false, "INSERT INTO ends VALUES (1)": true,
		"DO $$BEGIN BEGIN INSERT INTO public.ends VALUES (1); EXCEPTION WHEN division_by_zero THEN NULL; END; END$$": true,
		"CREATE TEMP TABLE x ()": true, "SELECT set_config('a.b', 'c', false)": false, "SELECT lo_create(0)": true,
	} {
		result, _ := b.run(spec(input), nil)
		if result.Wrote != wrote {
			t.Errorf("%s: wrote %t", input, !wrote)
		}
		b.end(result, "")
	}
	for input, wrote := range map[string]bool{"SELECT 1": false, "DECLARE c CURSOR FOR SELECT 1": false, "DECLARE d CURSOR WITH HOLD FOR SELECT 1": true} {
		saved := spec(input)
		saved.Save = true
		result, _ := b.run(saved, nil)
		if result.Wrote != wrote {
			t.Errorf("%s, with save: wrote %t; a cursor may be left that writes at COMMIT", input, !wrote)
		}
		b.end(result, "")
	}
}

// TestTail: the end is written whatever the SQL has done to its session.
func TestTail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec("CREATE ROLE tail_other; GRANT ALL ON ends TO tail_other")
	t.Cleanup(func() {
		_, _ = b.watch.Exec(context.WithoutCancel(t.Context()), "REVOKE ALL ON ends FROM tail_other; DROP ROLE tail_other")
	})
	b.exec("CREATE SCHEMA é; CREATE FUNCTION hidden() RETURNS text LANGUAGE SQL AS $$SELECT set_config('statement_timeout', '1', false)$$")
	for _, path := range []string{`"$user", public`, `public, "é"`} {
		b.exec("ALTER DATABASE " + pgx.Identifier{b.watch.Config().Database}.Sanitize() + " SET search_path = " + path)
		b.session.Close()
		b.open()
		for _, input := range []string{
			"SET ROLE tail_other", "SET SESSION AUTHORIZATION tail_other", "SET statement_timeout = 1", "SET search_path = nowhere", "SET client_encoding = SJIS",
			"SET standard_conforming_strings = off; SET backslash_quote = on", "SET row_security = off", "SET default_transaction_read_only = on", "SET LOCAL lock_timeout = 1",
			"SELECT hidden()", "DECLARE c CURSOR WITH HOLD FOR SELECT 1/(random()*0)::int",
		} {
			for at, ours := range map[string]bool{"behind": false, "with it": true} {
				title := input + ", " + at + ", " + path
				how := spec(input)
				how.Ours = ours
				written := `it's \' é` + title
				end := "INSERT INTO public.ends SELECT 1, " + Literal(written) + " || current_setting('search_path')"
				var result *Result
				var verdict *Verdict
				for tries := 0; tries < 20 && (verdict == nil || !verdict.Committed); tries++ { // on a busy machine a millisecond may pass by itself
					result, _ = b.run(how, nil)
					if result.Open {
						verdict, _ = b.session.End(&Tail{Calls: calls(end)})
					}
				}
				if verdict == nil || !verdict.Committed {
					t.Errorf("%s: %+v %v", title, verdict, result.Failure)
					continue
				}
				if n := b.get("SELECT count(*) FROM ends WHERE what = $1", written+path); n != "1" {
					t.Errorf("%s: %s ends", title, n)
				}
				b.alive()
			}
		}
	}
}

// TestRefused: effects are rolled back with an end that cannot be written, and the next task runs
// all the same.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first, _ := b.run(spec("INSERT INTO ends VALUES (1)"), nil)
	if !first.Open {
		t.Fatal(first.Failure)
	}
	second, verdict := b.run(spec("INSERT INTO ends VALUES (2)"), &Tail{Calls: calls("SELECT 1/0")})
	if verdict.Committed || verdict.Refused == nil || verdict.Refused.SQLState != "22012" {
		t.Errorf("verdict %+v", verdict)
	}
	b.end(second, "SELECT 1")
	if rows := b.get("SELECT string_agg(id::text, ' ') FROM ends"); rows != "2" {
		t.Error("rows ", rows)
	}
}

func TestSaveAndReset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := spec("CREATE TEMP TABLE mine AS SELECT 5 AS a; SET my.setting = 'kept'")
	first.Save = true
	result, _ := b.run(first, nil)
	b.end(result, "")
	second := spec("SELECT a, current_setting('my.setting') FROM mine")
	second.Save, second.Keep = true, true
	if result, _ = b.run(second, nil); output(result) != "a\tcurrent_setting\n5\tkept" {
		t.Error(output(result), result.Failure)
	}
	b.end(result, "")
	third := spec("SELECT to_regclass('mine'), nullif(current_setting('my.setting', true), '')")
	if result, _ = b.run(third, nil); output(result) != "to_regclass\tnullif\n\\N\t\\N" {
		t.Error(output(result), result.Failure)
	}
}

func TestManyRowsUnderLimit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	task := spec("SELECT repeat('x', 100) FROM generate_series(1, 100000)")
	task.Limit = 1 << 20
	result, _ := b.run(task, nil)
	if n := len(output(result)); n > 1<<20 || n < 1<<19 || result.Failure != nil {
		t.Errorf("%d bytes, %v", n, result.Failure)
	}
	b.end(result, "")
	task.Strict = true
	if result, _ = b.run(task, nil); failure(result) != "54000" || result.Open {
		t.Errorf("%v", result.Failure)
	}
}

// TestBarred: it is told whether writes were switched off beside the task, which need not fail for
// it, or by its own SQL.
func TestBarred(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := "SELECT set_config('transaction_read_only', 'on', true); INSERT INTO ends VALUES (1)"
	for _, off := range []string{"off", "on"} {
		b.exec("ALTER DATABASE " + pgx.Identifier{b.watch.Config().Database}.Sanitize() + " SET default_transaction_read_only = " + off)
		b.session.Close()
		b.open()
		for input, barred := range map[string]bool{"INSERT INTO ends VALUES (1)": off == "on", own: off == "on", "SELECT 1/0": false} {
			result, _ := b.run(spec(input), nil)
			if result.Barred != barred || input == own && failure(result) != "25006" {
				t.Errorf("%s: %s: %+v %v", off, input, result, result.Failure)
			}
			b.end(result, "")
		}
		kept := spec("INSERT INTO ends VALUES (1)")
		kept.Save = true
		result, _ := b.run(kept, nil)
		if result.Barred {
			t.Error("barred though it may have kept that state itself")
		}
		b.end(result, "")
	}
}
