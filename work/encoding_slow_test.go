//go:build slow

package work

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server/servertest"
)

// encoded returns a stage whose database has the encoding, and serves it.
func encoded(t *testing.T, encoding string) *stage {
	t.Helper()
	s := stageOn(t, encodedDatabase(t, encoding))
	s.serve()
	s.settled()
	return s
}

// encodedDatabase makes a database with the encoding, and returns its connection string.
func encodedDatabase(t *testing.T, encoding string) string {
	t.Helper()
	admin := &stage{t: t, dsn: servertest.Server(t).DSN("postgres")}
	admin.conn = admin.connect()
	name := strings.ToLower(strings.ReplaceAll(t.Name(), "/", "_"))
	name = name[max(0, len(name)-60):]
	admin.exec(fmt.Sprintf("DROP DATABASE IF EXISTS %s", pgx.Identifier{name}.Sanitize()))
	admin.exec(fmt.Sprintf("CREATE DATABASE %s ENCODING '%s' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0", pgx.Identifier{name}.Sanitize(), encoding))
	return servertest.Server(t).DSN(name)
}

// encodings of servers, each with a character that UTF-8 lacks; "": none.
var encodings = map[string]string{
	"SQL_ASCII": `\xff`, "LATIN1": "", "LATIN2": "", "LATIN9": "", "KOI8R": "", "WIN1251": `\x98`, "WIN1252": `\x81`, "WIN1253": `\xaa`, "ISO_8859_8": `\xa1`,
	"EUC_JP": `\xf5\xa1`, "EUC_KR": `\xc9\xa1`, "EUC_CN": `\xf8\xa1`, "EUC_TW": "", "UTF8": "",
}

// TestEndsAreWrittenInEachEncoding: each once. Characters that the encoding of the database lacks
// are replaced.
func TestEndsAreWrittenInEachEncoding(t *testing.T) {
	t.Parallel()
	for encoding := range someOf(encodings) {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			s := encoded(t, encoding)
			elsewhere := servertest.Database(t)
			long := "repeat('x', 1000) FROM generate_series(1, 9000)"
			cut := s.add("input", "SELECT "+long)
			written := s.add("input", "CREATE TABLE made (); SELECT "+long)
			failed := s.add("input", "DO $$BEGIN RAISE '%', repeat('x', 100000); END$$")
			noticed := s.add("input", "DO $$BEGIN RAISE WARNING '%', repeat('x', 100000); END$$; COMMIT; SELECT 1")
			strange := s.add("input, remote", "SELECT chr(8364) || chr(8230) || chr(128512) || chr(1046) || 'ok'", elsewhere)
			telling := s.add("input, remote, repeat, retry", "DO $$BEGIN RAISE WARNING '%', chr(8364) || chr(128512) || chr(1046) || 'ok'; END$$; CREATE TABLE told ()", elsewhere, "1 day", 1)
			strangers := s.add("input, remote", "DO $$BEGIN RAISE '%', chr(8364) || chr(128512) || chr(1046) || 'ok'; END$$", elsewhere)
			for _, id := range []int64{cut, written, noticed, strange, telling} {
				s.becomes(id, "DONE")
			}
			for _, id := range []int64{failed, strangers} {
				s.becomes(id, "FAIL")
			}
			for _, id := range []int64{cut, written} {
				if row := s.row(id, "octet_length(output) > 8000000 AS long, output LIKE '%output_limit = 8388608' AS told"); row != `{"long":true,"told":true}` {
					t.Error(row)
				}
			}
			if row := s.row(strange, "output LIKE '%ok' AS told"); row != `{"told":true}` {
				t.Error(s.row(strange, "state, output, error"))
			}
			if row := s.row(telling, "notice LIKE 'WARNING:  %ok%' AS told"); row != `{"told":true}` {
				t.Error(s.row(telling, "state, notice, error"))
			}
			if row := s.row(strangers, "error LIKE 'ERROR:  %ok%' AS told"); row != `{"told":true}` {
				t.Error(s.row(strangers, "state, output, error"))
			}
			if got := s.get("SELECT string_agg(id::text, ' ') FROM task WHERE attempt > 1"); got != "NULL" {
				t.Error("they ran more than once: ", got)
			}
			s.others()
		})
	}
}

// TestBytesThatNoEncodingHasStopTheirTaskAlone: whichever column has them.
func TestBytesThatNoEncodingHasStopTheirTaskAlone(t *testing.T) {
	t.Parallel()
	for encoding, odd := range someOf(encodings) {
		if odd == "" {
			continue
		}
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			s := encoded(t, encoding)
			var odds []int64
			for _, column := range []string{`"group"`, "remote", `"null"`, "input", "data", "key", "error", "output", "notice", "delimiter", "quote", "escape", "sqlstate", "author"} {
				columns, values := "input, "+column, "'SELECT 1, 2', E'"+odd+"'"
				if column == "input" {
					columns, values = "input", "'SELECT ''' || E'"+odd+"' || ''''"
				}
				if column == "delimiter" || column == "quote" || column == "escape" {
					values += `::"char"`
				}
				var id int64
				if err := s.conn.QueryRow(t.Context(), "INSERT INTO task ("+columns+", repeat, retry) VALUES ("+values+", '0', 0) RETURNING id").Scan(&id); err != nil {
					t.Fatal(column, err)
				}
				odds = append(odds, id)
			}
			s.others()
			for _, id := range odds {
				s.becomes(id, "DONE", "FAIL")
			}
			if got := s.get(`SELECT count(*) FROM task WHERE state = 'FAIL' AND sqlstate IN ('22P05', '22021') AND attempt = 1 AND error LIKE 'ERROR:  %byte sequence%'`); got != "5" {
				t.Error(got, s.get("SELECT string_agg(concat_ws(' ', id, state, sqlstate, attempt), ', ' ORDER BY id) FROM task"))
			}
			// An error message that would show the byte.
			s.exec("ALTER TABLE task ADD CHECK (output <> 'refused')")
			var refused int64
			if err := s.conn.QueryRow(t.Context(), "INSERT INTO task (input, delete, key, author) VALUES ('SELECT ''refused''', false, E'2"+odd+"', E'"+odd+"') RETURNING id").Scan(&refused); err != nil {
				t.Fatal(err)
			}
			s.becomes(refused, "DONE")
			if row := s.row(refused, "attempt, output"); row != `{"attempt":1,"output":null}` {
				t.Error(row)
			}
			// Many of them among others of their lane, and one that an old leader has left.
			s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT 1', CASE n % 2 WHEN 0 THEN E'` + odd + `' ELSE 'even' END FROM generate_series(1, 100) AS n`)
			servertest.Replicate(t, s.conn, `INSERT INTO task (input, "group", state, pid, start, attempt) VALUES ('SELECT 1', E'`+odd+`', 'WORK', 2147483647, '2020-01-01', 1)`)
			s.eventually("50 51", `SELECT concat_ws(' ', count(*) FILTER (WHERE state = 'DONE' AND "group" = 'even'), count(*) FILTER (WHERE state = 'FAIL' AND "group" = E'`+odd+`')) FROM task WHERE id > `+fmt.Sprint(refused))
			s.others()
		})
	}
}

// TestRemotesOfOtherEncodings: a character that a remote's encoding lacks fails the task that has
// it, with a readable error. Odd bytes from a remote become text.
func TestRemotesOfOtherEncodings(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"SQL_ASCII", "LATIN1", "WIN1252", "EUC_JP"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			there := encodedDatabase(t, encoding)
			s := play(t)
			odd := cmp.Or(encodings[encoding], "x")
			fine := []int64{
				s.add("input, remote", "SELECT 1", there),
				s.add(`input, remote, "null"`, "SELECT NULL", there, "😀"),
			}
			own := []int64{
				s.add("input, remote", "SELECT '😀'", there),
				s.add("input, remote, data", "SELECT 1", there, "😀"),
				s.add(`input, remote, "group"`, "SELECT 1", there, "😀"),
				s.add("input, remote", "SELECT E'"+odd+"'", there),
				s.add("input, remote", "DO $$BEGIN RAISE WARNING '%', E'"+odd+"'; END$$", there),
				s.add("input, remote", "DO $$BEGIN RAISE '%', E'"+odd+"'; END$$", there),
				s.add("input, remote", "COMMIT; SELECT E'"+odd+"'; SELECT 1", there),
			}
			behind := s.add("input, remote", "SELECT 'behind'", there)
			for _, id := range append(fine, behind) {
				s.becomes(id, "DONE")
			}
			for _, id := range own {
				s.becomes(id, "DONE", "FAIL")
				if s.get("SELECT attempt = 1 AND (state = 'DONE' OR error LIKE 'ERROR:  %') AND octet_length(concat(output, error, notice)) > 0 FROM task WHERE id = $1", id) != "true" {
					t.Error(s.row(id, "state, attempt, input, output, error, notice"))
				}
			}
			s.others()
		})
	}
}

// TestTextOfAStrangerThatUTF8LacksStopsNothing: the text is the name of a prepared transaction that
// holds the leader's lock.
func TestTextOfAStrangerThatUTF8LacksStopsNothing(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"SQL_ASCII", "WIN1252"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			s := stageOn(t, encodedDatabase(t, encoding))
			conn := s.connectAs(s.role())
			s.on(conn, "SET client_encoding = 'SQL_ASCII'; BEGIN; SELECT pg_advisory_xact_lock("+s.leaderKey()+")")
			gid := "'" + s.target.Connect["dbname"] + "\x81'"
			s.on(conn, "PREPARE TRANSACTION "+gid)
			ended := false
			end := func() {
				if _, err := conn.PgConn().Exec(context.WithoutCancel(t.Context()), "ROLLBACK PREPARED "+gid).ReadAll(); err != nil && !ended {
					t.Error(err)
				}
				ended = true
			}
			t.Cleanup(end)
			s.serve()
			s.says("prepared transaction")
			end()
			s.settled()
			s.others()
		})
	}
}

// TestNamesThatUTF8LacksStopNothing: the name of a role that has locked a row, and that may come
// from a database of another encoding.
func TestNamesThatUTF8LacksStopNothing(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"SQL_ASCII", "WIN1252", "EUC_JP"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			s := stageOn(t, encodedDatabase(t, encoding))
			role := s.role()
			locking := s.connectAs(role)
			elsewhere := servertest.Connect(t, servertest.Database(t))
			s.on(elsewhere, `ALTER ROLE `+role+` RENAME TO "`+role+`Á"`)
			t.Cleanup(func() {
				if _, err := s.conn.Exec(context.WithoutCancel(t.Context()), "DO $$BEGIN EXECUTE (SELECT format('ALTER ROLE %I RENAME TO "+role+"', rolname) FROM pg_roles WHERE starts_with(rolname, '"+role+"')); END$$"); err != nil {
					t.Error(err)
				}
			})
			s.serve()
			s.settled()
			s.exec("GRANT SELECT, UPDATE (state) ON task TO PUBLIC")
			s.exec("SELECT pg_advisory_lock(1)")
			id := s.add("input", "SELECT pg_advisory_lock(1)")
			s.becomes(id, "WORK")
			s.on(locking, fmt.Sprintf("BEGIN; SELECT FROM task WHERE id = %d FOR UPDATE", id))
			s.exec("SELECT pg_advisory_unlock(1)")
			s.says("pg_terminate_backend", role+"Á")
			s.on(locking, "ROLLBACK")
			s.becomes(id, "DONE")
			s.drain()
			s.serve()
			s.becomes(s.add("input", "SELECT 1"), "DONE")
		})
	}
}
