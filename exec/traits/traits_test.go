package traits

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/server/servertest"
)

// examined returns an input's traits, without those that have tests of their own.
func examined(input string) Traits {
	traits := Examine(input)
	traits.Reads, traits.Inert, traits.Shape = false, false, 0
	return traits
}

// TestReads: Reads is set if all statements are queries.
func TestReads(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{
		"": false, ";": false, "SELECT 1": true, " (select 1);": true, "SELECT 1; VALUES (2); /**/ TABLE a; ((SELECT 1)); with a as (select) table a; SHOW all;": true,
		"SELECT 1; SET a = 1": false, "INSERT INTO a VALUES (1)": false, "'SELECT'": false, "1": false, `"select" 1`: false, "SELECT $$;$$; LISTEN a": false,
		`SELECT '\'; SELECT 1; --'`: true, "SELECTS": false, "DO $$ SELECT $$": false,
	} {
		if got := Examine(input).Reads; got != want {
			t.Errorf("%q: %v", input, got)
		}
	}
}

// TestShape: inputs that differ only in values have the same shape.
func TestShape(t *testing.T) {
	t.Parallel()
	shape := func(input string) uint64 { return Examine(input).Shape }
	for _, same := range [][2]string{
		{"SELECT f(1)", "SELECT  f(23) -- so"}, {"SELECT f('a', 1)", "SELECT f(E'b', 20)"}, {"SELECT f(1.5)", "SELECT f(7.25)"}, {"SELECT $$a$$", "SELECT 'b'"},
	} {
		if shape(same[0]) != shape(same[1]) {
			t.Error(same)
		}
	}
	for _, other := range [][2]string{
		{"SELECT f(1)", "SELECT g(1)"}, {"SELECT f(1)", "SELECT f('1')"}, {"SELECT a", `SELECT "a"`}, {"SELECT 1", "SELECT 1; SELECT 1"}, {"SELECT a b", "SELECT ab"}, {"SELECT 1+1", "SELECT 1-1"},
	} {
		if shape(other[0]) == shape(other[1]) {
			t.Error(other)
		}
	}
}

func TestExamine(t *testing.T) {
	t.Parallel()
	var (
		plain   = Traits{}
		empty   = Traits{Empty: true}
		control = Traits{Control: true}
		apart   = Traits{NoTransaction: true}
		level   = Traits{Isolation: true, Modes: true}
		stdin   = Traits{Stdin: true}
		outside = Traits{Outside: true}
	)
	for _, test := range []struct {
		input string
		want  Traits
	}{
		{"", empty},
		{" \t\r\n", empty},
		{"-- SELECT 1", empty},
		{"/* SELECT /* 1 */ */ ; -- ;", empty},
		{";;", empty},
		{"SELECT 1", plain},
		{"''", plain},
		{"1", plain},
		{"\xff", plain},

		{"COMMIT", control},
		{"commit;", control},
		{"SELECT 1;END", control},
		{"SELECT 1; /* so */ ROLLBACK -- not TO", control},
		{"ABORT", control},
		{"BEGIN; SELECT 1; COMMIT", control},
		{"COMMIT AND CHAIN", control},
		{"ROLLBACK WORK", control},
		{"ROLLBACK TRANSACTION AND CHAIN", Traits{Control: true, Modes: true}},
		{"PREPARE TRANSACTION 'x'", Traits{Control: true, Modes: true}},
		{"COMMIT PREPARED 'x'", control},
		{"ROLLBACK PREPARED 'x'", control},
		{"BEGIN; SELECT 1", plain},
		{"SAVEPOINT a; ROLLBACK TO a; RELEASE a", Traits{Rollbacks: 1}},
		{"ROLLBACK WORK TO SAVEPOINT a", Traits{Rollbacks: 1}},
		{"ROLLBACK TRANSACTION TO a; ROLLBACK TO b", Traits{Rollbacks: 2, Modes: true}},
		{"CALL p()", Traits{Calls: true}},
		{"DO $$BEGIN CALL p(nextval('s')); END$$", Traits{Calls: true, Outside: true}},
		{"PREPARE a AS SELECT 1; EXECUTE a", plain},
		{"PREPARE p AS SELECT 1", plain},
		{"SELECT 'x; COMMIT'", plain},
		{`SELECT "x; COMMIT; "`, plain},
		{"SELECT $a$; COMMIT; $a$", plain},
		{"SELECT 1 -- ; COMMIT", plain},
		{"SELECT 1 /* ; COMMIT */", plain},
		{"SELECT CASE WHEN a THEN 1 END", plain},
		{"INSERT INTO t (commit) VALUES (1)", plain},
		{"CREATE RULE r AS ON INSERT TO t DO ALSO (DELETE FROM u; DELETE FROM v)", plain},

		// A quote after a backslash ends a plain string, but not an E string.
		{`SELECT '\'; COMMIT; --'`, control},
		{`SELECT E'\'; COMMIT; --'`, plain},
		{`SELECT 'a\b'; SELECT 1`, plain},

		{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 2 END; END", plain},
		{"CREATE OR REPLACE PROCEDURE p() LANGUAGE sql BEGIN ATOMIC DELETE FROM t; END; SELECT 1", plain},
		{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC END", plain},
		{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; END", control},
		{"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1 AS case; END; COMMIT", control},
		{"BEGIN ATOMIC; END", control},
		{"CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$BEGIN COMMIT; END$$", plain},

		{"VACUUM", apart},
		{"VACUUM (FULL) t", apart},
		{"select 1; vacuum t", apart},
		{"ANALYZE t", plain},
		{"CREATE DATABASE d", apart},
		{"DROP DATABASE IF EXISTS d", apart},
		{"CREATE TABLESPACE s LOCATION '/x'", apart},
		{"DROP TABLESPACE s", apart},
		{"ALTER DATABASE d SET TABLESPACE s", Traits{NoTransaction: true}},
		{"ALTER DATABASE d SET work_mem = 1", plain},
		{"ALTER SYSTEM SET work_mem = 1", Traits{NoTransaction: true}},
		{"ALTER TABLE t SET TABLESPACE s", plain},
		{"CREATE INDEX CONCURRENTLY ON t (a)", apart},
		{"CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)", apart},
		{"DROP INDEX CONCURRENTLY i", apart},
		{"REINDEX INDEX CONCURRENTLY i", apart},
		{"REINDEX (VERBOSE, CONCURRENTLY) TABLE t", apart},
		{"REINDEX (VERBOSE) DATABASE d", apart},
		{"REINDEX SYSTEM d", apart},
		{"REINDEX SCHEMA s", apart},
		{"REINDEX TABLE t", plain},
		{"ALTER TABLE t DETACH PARTITION p CONCURRENTLY", Traits{NoTransaction: true}},
		{"ALTER TABLE t DETACH PARTITION p", plain},
		{"REFRESH MATERIALIZED VIEW CONCURRENTLY v", plain},
		{"CLUSTER", apart},
		{"DISCARD ALL", apart},
		{"DISCARD PLANS", plain},
		{"CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p", apart},
		{"ALTER SUBSCRIPTION s REFRESH PUBLICATION", Traits{NoTransaction: true}},
		{"DROP SUBSCRIPTION s", apart},
		{`CREATE INDEX "concurrently" ON t (a)`, plain},
		{"DO $$BEGIN INSERT INTO t VALUES (1); COMMIT; END$$", apart},
		{"DO LANGUAGE plpgsql 'BEGIN ROLLBACK; END'", apart},
		{"DO $$BEGIN /* COMMIT */ PERFORM 'COMMIT'; END$$", plain},
		{"DO $$BEGIN END; VACUUM$$", plain},
		{"INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING; SELECT 'COMMIT'", plain},

		{"SET TRANSACTION READ WRITE", Traits{Modes: true}},
		{"BEGIN READ ONLY; SELECT 1", Traits{Modes: true}},
		{"SET LOCAL transaction_read_only TO on", Traits{Modes: true}},
		{"SET transaction_deferrable TO on", Traits{Modes: true}},
		{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", level},
		{"SET default_transaction_isolation = 'serializable'", level},
		{"SELECT repeatable, \"serializable\"", level},
		{"DO $$BEGIN SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; END$$", level},
		{"SELECT 'ISOLATION', \"serializable\"", plain},

		{"COPY t FROM STDIN", stdin},
		{"COPY t (a) from stdin with (format csv)", stdin},
		{"COPY t FROM STDOUT", stdin},
		{"COPY t TO STDOUT", plain},

		{"COPY t TO PROGRAM 'cat'", outside},
		{"COPY (SELECT 1) TO PROGRAM 'cat'", outside},
		{"COPY t FROM PROGRAM 'ls'", outside},
		{"COPY t TO '/x'", outside},
		{"COPY t TO $$/x$$", outside},
		{"COPY t FROM '/x'", plain},
		{"SELECT dblink_exec('c', 'DELETE FROM t')", outside},
		{"SELECT * FROM public . DBLINK /* so */ ('c', 'SELECT 1') AS t(a int)", outside},
		{`SELECT "dblink_exec"('c', 'DELETE FROM t')`, outside},
		{`SELECT U&"dblin\006B"('c', 'SELECT 1')`, outside},
		{"SELECT nextval('s')", outside},
		{"SELECT setval('s', 1)", outside},
		{"SELECT net.http_get('http://host/')", outside},
		{"SELECT pg_terminate_backend(1)", outside},
		{"SELECT pg_create_logical_replication_slot('s', 'pgoutput')", outside},
		{"DO $$BEGIN PERFORM dblink_connect('c'); END$$", outside},
		{"DO $$BEGIN COPY t TO '/x'; END$$", outside},
		{"DO $$BEGIN IF true THEN ALTER TABLE t ADD a int4; END IF; END$$", plain},
		{"SELECT dblink, nextval FROM http", plain},
		{"SELECT 'dblink()'", plain},
		{"SELECT pg_notify('a', 'b'), pg_sleep(1)", Traits{Notifies: true}},
		{"NOTIFY a", Traits{Notifies: true}},
		{"DO $$BEGIN NOTIFY a; END$$", Traits{Notifies: true}},

		{
			"BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT nextval('s'); COMMIT; VACUUM; COPY t FROM STDIN",
			Traits{Control: true, NoTransaction: true, Isolation: true, Modes: true, Stdin: true, Outside: true},
		},
	} {
		if got := examined(test.input); got != test.want {
			t.Errorf("%s\n got %+v\nwant %+v", test.input, got, test.want)
		}
	}
}

func TestAtomic(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{
		"SELECT 1": true, "SELECT nextval('s')": true, "COPY t FROM STDIN": true, "COMMIT": false, "VACUUM": false,
	} {
		if got := Examine(input).Atomic(); got != want {
			t.Errorf("%s: atomic %t, want %t", input, got, want)
		}
	}
}

// Examine knows all statements that the server refuses in a transaction block, and no others.
func TestExamineAsServer(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, servertest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx) //nolint:errcheck // the test is over
	const setup = `CREATE TABLE t (a int PRIMARY KEY);
		CREATE TABLE p (a int) PARTITION BY LIST (a); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)`
	if _, err := conn.Exec(ctx, setup).ReadAll(); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{
		"VACUUM t", "ANALYZE t", "CREATE DATABASE d", "DROP DATABASE IF EXISTS d", "CREATE TABLESPACE s LOCATION '/x'",
		"DROP TABLESPACE IF EXISTS s", "ALTER SYSTEM RESET work_mem", "ALTER DATABASE postgres SET TABLESPACE pg_default",
		"CREATE INDEX CONCURRENTLY i ON t (a)", "CREATE INDEX i ON t (a)", "DROP INDEX CONCURRENTLY t_pkey",
		"REINDEX TABLE CONCURRENTLY t", "REINDEX (CONCURRENTLY) TABLE t", "REINDEX TABLE t", "REINDEX SCHEMA public",
		"ALTER TABLE p DETACH PARTITION p1 CONCURRENTLY", "ALTER TABLE p DETACH PARTITION p1", "CLUSTER",
		"DISCARD ALL", "DISCARD TEMP", "CREATE SUBSCRIPTION s CONNECTION '' PUBLICATION p", "CHECKPOINT",
		"ALTER TYPE pg_catalog.name OWNER TO postgres", "LISTEN a", "LOCK TABLE t", "SAVEPOINT a; ROLLBACK TO a",
	} {
		_, err := conn.Exec(ctx, "BEGIN").ReadAll()
		if err == nil {
			_, err = conn.Exec(ctx, input).ReadAll()
		}
		var refused *pgconn.PgError
		prevented := errors.As(err, &refused) && refused.Code == "25001"
		unknown := refused != nil && refused.Code == "42601" // an older server does not know the statement
		if got := Examine(input).NoTransaction; got != prevented && !unknown {
			t.Errorf("%s: examined as %t, the server says %v", input, got, err)
		}
		if _, err := conn.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzExamine(f *testing.F) {
	for _, seed := range []string{
		"SELECT 1; COMMIT", "DO $$BEGIN ROLLBACK; END$$", `SELECT '\'; END; --'`, "COPY t FROM STDIN",
		"CREATE FUNCTION f() BEGIN ATOMIC SELECT 1; END", "SELECT U&\"a\"()", "SELECT dblink('a')", "/*",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		want := examined(input)
		for _, comment := range []string{"/* '; COMMIT; \" /* $$ */ */", "-- '; COMMIT\n", "\t\n", ";", "; --\r"} {
			if got := examined(comment + input); got != want {
				t.Errorf("behind %q: %+v, want %+v", comment, got, want)
			}
		}
		if got := Examine("COMMIT; VACUUM; " + input); got.Atomic() || got.Empty {
			t.Errorf("COMMIT and VACUUM are not seen: %+v", got)
		}
		literal := "'" + strings.ReplaceAll(input, "'", "''") + "'"
		if got := examined("SELECT " + literal); got != (Traits{}) {
			t.Errorf("SELECT %s: %+v", literal, got)
		}
	})
}

// Ten megabytes of each kind of input that could be slow.
func BenchmarkExamine(b *testing.B) {
	for name, piece := range map[string]string{
		"words":    "SELECT customer, amount FROM invoice; ",
		"values":   "(1,'some text here',2.5,NULL),\n",
		"numbers":  "1,2,3,4,5,6,",
		"strings":  "'',",
		"dollars":  "$a",
		"comments": "/* x */",
		"calls":    "pg_catalog.lower(a)",
	} {
		input := strings.Repeat(piece, 10<<20/len(piece))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			for b.Loop() {
				Examine(input)
			}
		})
	}
}

// TestInert: Inert is set only if the input certainly calls nothing that a user has created.
func TestInert(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]bool{
		"": true, "SELECT 1": true, "select 1 AS a, 'x' as \"b c\"; VALUES (1, 2), (NULL, true)": true, "SELECT (1), ('a', (2))": true, "SELECT -1": false, "SELECT 1.5": true,
		"SELECT f()": false, "SELECT f ()": false, "SELECT \"f\"()": false, "SELECT U&\"f\"()": false, "SELECT a": false, "SELECT mine 'x'": false, "SELECT 'x'::mine": false, "SELECT 1 + 1": false,
		"SELECT 'a' = 'b'": false, "SELECT * FROM a": false, "TABLE a": false, "SELECT current_user": false, "SELECT 1 ORDER BY 1": false, "WITH a AS (SELECT 1) SELECT 1": false,
		"SELECT 1 AS a FROM b": false, "INSERT INTO a VALUES (1)": false, "SELECT 1 AS f('x')": false, "EXECUTE a": false, "SELECT 1; DO 'x'": false, "SELECT 'a\\'": true, "SELECT ARRAY[1]": false,
		"SELECT 1 AS select, f(1)": false, "SELECT 1 WHERE true": false, "SELECT mine '(1)'": false, "SELECT NULL AS a, 'x' AS from": true, "SELECT 1 % 2": false, "SELECT 1 <-> 2": false,
	} {
		if got := Examine(input).Inert; got != want {
			t.Errorf("%s: %t", input, got)
		}
	}
}
