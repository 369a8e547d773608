package exec

import (
	"context"
	"strings"
	"testing"
	"time"

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
		{"SET client_encoding = LATIN1; SELECT 'é'", "SET\n?", "", true},
		{"SET search_path = nowhere; SET standard_conforming_strings = off; SET DateStyle = 'SQL, DMY'", "SET\nSET\nSET", "", true},
		{"SET statement_timeout = '1min'", "SET", "", true},
		{"SAVEPOINT s; INSERT INTO t VALUES (1); ROLLBACK TO s", "SAVEPOINT\nINSERT 0 1\nROLLBACK", "", true},
		{"DECLARE c CURSOR WITH HOLD FOR SELECT 1", "DECLARE CURSOR", "", true},
		{"LISTEN x; NOTIFY x", "LISTEN\nNOTIFY", "", true},
		{"INSERT INTO t VALUES (10), (10)", "INSERT 0 2", "", true},
	} {
		result, _ := b.run(spec(c.input), nil)
		got := strings.ReplaceAll(output(result), "é", "?") // before version 14 a server reports new encodings at once
		if c.output != "*" && got != c.output || failure(result) != c.state || result.Open != c.open {
			t.Errorf("%s: %q %s open %t, want %q %s open %t (%v)", c.input, output(result), failure(result), result.Open, c.output, c.state, c.open, result.Failure)
		}
		verdict := b.end(result)
		if deferred := strings.Contains(c.input, "(10), (10)"); verdict != nil && (verdict.Committed == deferred || (code(verdict.Failure) == "23505") != deferred) {
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
		b.end(result)
	}
	within := spec("CREATE DATABASE hidden")
	within.Atomic = true // as if the examiner had missed it
	if result, _ := b.run(within, nil); !result.Retry() {
		t.Error("CREATE DATABASE in a transaction: ", result.Failure)
	}
}

// TestHiddenCommit: even if the examiner misses that an input ends our transaction, Await does not
// take a transaction after it for ours.
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
			b.end(result)
		}
		b.alive()
	}
}

func TestSaveAndReset(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := spec("CREATE TEMP TABLE mine AS SELECT 5 AS a; SET my.setting = 'kept'")
	first.Save = true
	result, _ := b.run(first, nil)
	b.end(result)
	second := spec("SELECT a, current_setting('my.setting') FROM mine")
	second.Save, second.Keep = true, true
	if result, _ = b.run(second, nil); output(result) != "a\tcurrent_setting\n5\tkept" {
		t.Error(output(result), result.Failure)
	}
	b.end(result)
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
	b.end(result)
	task.Strict = true
	if result, _ = b.run(task, nil); failure(result) != "54000" || result.Open {
		t.Errorf("%v", result.Failure)
	}
}

// TestWritesThatWereSwitchedOffBesideTheTaskAreTold: Result.ReadOnly reports them.
func TestWritesThatWereSwitchedOffBesideTheTaskAreTold(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := "SELECT set_config('transaction_read_only', 'on', true); INSERT INTO ends VALUES (1)"
	for _, off := range []string{"off", "on"} {
		b.exec("ALTER DATABASE " + pgx.Identifier{b.watch.Config().Database}.Sanitize() + " SET default_transaction_read_only = " + off)
		b.session.Close()
		b.open()
		for input, readOnly := range map[string]bool{"INSERT INTO ends VALUES (1)": off == "on", own: off == "on", "SELECT 1/0": false} {
			result, _ := b.run(spec(input), nil)
			if result.ReadOnly != readOnly || input == own && failure(result) != "25006" {
				t.Errorf("%s: %s: %+v %v", off, input, result, result.Failure)
			}
			b.end(result)
		}
		kept := spec("INSERT INTO ends VALUES (1)")
		kept.Save = true
		result, _ := b.run(kept, nil)
		if result.ReadOnly {
			t.Error("read-only though it may have kept that state itself")
		}
		b.end(result)
	}
}

func TestMomentsOfTheServerAreParsed(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 11, 22, 1, 2, 3, 456789000, time.UTC)
	if got, err := moment([]byte("\x00\x03\x03\xd1\xcb\x44\xb1\x15")); err != nil || !got.Equal(want) {
		t.Errorf("%s %v, want %s", got.UTC(), err, want)
	}
	for _, value := range []string{"", "1234567", "123456789", "2026-11-22"} {
		if got, err := moment([]byte(value)); err == nil {
			t.Errorf("%q is taken for %s", value, got)
		}
	}
}
