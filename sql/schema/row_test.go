package schema

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
)

func TestRowsAreBounded(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, c := range []struct{ column, allowed string }{
		{"plan", "infinity"},
		{"plan", "9999-12-31 23:59:59+00"},
		{"plan", "2000-01-01 00:00:00+00 BC"},
		{"active", "1000 years"},
		{"active", "1 day -1 hour"},
		{"active", "0"},
		{"repeat", "1 month 2 days 3:04:05.678"},
		{"timeout", "1 ms"},
		{"max", "-2147483647"},
		{"max", "2147483647"},
		{"backoff", "1 us"},
		{"until", "infinity"},
		{"remote", "dbname=other"},
		{"format", "json"},
	} {
		execute(t, conn, "INSERT INTO task (input, "+c.column+") VALUES ('', "+sql.Literal(c.allowed)+")")
	}
	for _, c := range []struct{ column, refused string }{
		{"plan", "-infinity"},
		{"plan", "10000-01-01 00:00:00+00"},
		{"plan", "2001-01-01 00:00:00+00 BC"},
		{"active", "-1 s"},
		{"active", "1001 years"},
		{"active", "170000000 years -2040000000 days"},
		{"active", "2000000 days -48000000 hours"},
		{"live", "-1 s"},
		{"repeat", "-1 s"},
		{"repeat", "1 month -1 day"},
		{"repeat", "-1 month 40 days"},
		{"repeat", "1 day -1 hour"},
		{"repeat", "1 day -00:00:00.000001"},
		{"timeout", "-1 s"},
		{"count", "-1"},
		{"max", "-2147483648"},
		{"retry", "-1"},
		{"backoff", "0"},
		{"format", "xml"},
		{"format", ""},
		{"format", "JSON"},
	} {
		refused(t, conn, "INSERT INTO task (input, "+c.column+") VALUES ('', "+sql.Literal(c.refused)+")", "23514")
	}
	for _, column := range []string{"plan", "active", "max", "state", `"group"`, "input", `"null"`, "delimiter", "format", "attempt", "priority", "rerun"} {
		refused(t, conn, "UPDATE task SET "+column+" = NULL", "23502")
	}
}

// TestNamesAreBounded: pgtaskd keeps the names of waiting tasks in memory.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for column, most := range map[string]int{`"group"`: 64 << 10, "remote": 64 << 10, `"null"`: 64 << 10, "key": 1 << 10} {
		longest := fmt.Sprintf("repeat('ü', %d)", most/2)
		execute(t, conn, "TRUNCATE task; INSERT INTO task (input, "+column+") VALUES ('', "+longest+")")
		refused(t, conn, "INSERT INTO task (input, "+column+") VALUES ('', "+longest+" || 'x')", "23514")
		refused(t, conn, "UPDATE task SET "+column+" = "+column+" || 'x'", "23514")
	}
}

// TestAfterIsChecked when a task is inserted, and when its column after changes.
func TestAfterIsChecked(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	refuses := func(conn *pgx.Conn, sql, words string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		var answer *pgconn.PgError
		if !errors.As(err, &answer) || answer.Code != "23514" || answer.ColumnName != "after" || answer.Message != words {
			t.Errorf("%s: %v", sql, err)
		}
	}
	const insert = "INSERT INTO task (input, after) VALUES ('', "
	refuses(conn, insert+"'{1}')", "after names the task itself")
	refuses(conn, insert+"'{1,9}')", "after names task 9, which does not exist")
	execute(t, conn, "INSERT INTO task (input) SELECT '' FROM generate_series(1, 2); INSERT INTO task (id, input) VALUES (1000, '')")
	refuses(conn, insert+"'{1,NULL}')", "after is no list of ids")
	refuses(conn, insert+"'{{1},{2}}')", "after is no list of ids")
	refuses(conn, insert+"(SELECT array_agg(1) FROM generate_series(1, 10001)))", "after is too long: it may have 10000 ids")
	refuses(conn, "UPDATE task SET after = '{2000}' WHERE id = 1000", "after names task 2000, which does not exist")
	execute(t, conn, insert+"(SELECT array_agg(1) FROM generate_series(1, 10000))); "+insert+"'{1,1000,-1}'), ('', '{}'), ('', NULL)")
	execute(t, conn, "INSERT INTO task (id, input, after) VALUES (2000, '', NULL), (2001, '', '{2000}')")
	execute(t, conn, "UPDATE task SET after = '{1000}' WHERE id = 1000; UPDATE task SET after = NULL; SET pg_task.after = '{1}'; INSERT INTO task (input) VALUES ('')")

	// A role with only INSERT cannot look for a task whose id did not come from the sequence.
	execute(t, conn, "DO $$BEGIN CREATE ROLE after_inserts; EXCEPTION WHEN duplicate_object THEN NULL; END$$")
	execute(t, conn, "GRANT INSERT ON task TO after_inserts; GRANT USAGE ON SEQUENCE task_id_seq TO after_inserts; SET ROLE after_inserts; "+insert+"'{1}')")
	refuses(conn, insert+"'{1000000}')", "after names task 1000000, which does not exist")
	execute(t, conn, "RESET ROLE; REVOKE ALL ON SEQUENCE task_id_seq FROM after_inserts; SET ROLE after_inserts; INSERT INTO task (id, input, after) VALUES (5000, '', '{1000000}')")
	execute(t, conn, "RESET ROLE; DROP OWNED BY after_inserts")
}

// TestColumnsThatDoNotGoTogether are refused; so is a channel that NOTIFY does not accept.
func TestColumnsThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input, cron, key, overlap) VALUES ('', '@daily', 'a', true), ('', NULL, 'b', false)")
	for _, set := range []string{
		"repeat = '1 day' WHERE key = 'a'", "retry = 1 WHERE key = 'a'", "cron = '@daily', repeat = '1 day' WHERE key = 'b'", "cron = '61 * * * *'", "cron = ''",
		"format = 'xml'", "notify = ''", "notify = repeat('x', 64)", "catchup = -1", "max_failures = -1", "settings = '[]'",
	} {
		refused(t, conn, "UPDATE task SET "+set, "23514")
	}
	execute(t, conn, "UPDATE task SET notify = repeat('x', 63), catchup = 2147483647, max_failures = 2147483647")
}

func TestOneWaitingTaskPerKey(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input, key) VALUES ('1', 'job')")
	execute(t, conn, "INSERT INTO task (input, key) VALUES ('2', 'job') ON CONFLICT (wait_key) WHERE wait_key IS NOT NULL DO UPDATE SET input = EXCLUDED.input")
	equal(t, "inputs", value(t, conn, "SELECT string_agg(input, ' ') FROM task"), "2")
	execute(t, conn, "UPDATE task SET state = 'STOP'") // paused, so it still waits
	refused(t, conn, "INSERT INTO task (input, key) VALUES ('3', 'job')", "23505")
	execute(t, conn, "SET application_name = 'pgtaskd public task'; UPDATE task SET state = 'WORK'; RESET application_name")
	execute(t, conn, "INSERT INTO task (input, key) VALUES ('3', 'job')")
	execute(t, conn, "UPDATE task SET state = 'STOP', stop = now() WHERE input = '2'")
	equal(t, "waiting", value(t, conn, "SELECT string_agg(input, ' ') FROM task WHERE wait_key = 'job'"), "3")
}

// As long as a page has room, no update before the end needs an index entry.
func TestUpdatesBeforeTheEndAreHOT(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input) SELECT 'SELECT 1' FROM generate_series(1, 10)")
	execute(t, conn, "BEGIN")
	execute(t, conn, "SET LOCAL application_name = 'pgtaskd public task'")
	execute(t, conn, "UPDATE task SET state = 'WORK', pid = 2, start = clock_timestamp(), attempt = attempt + 1")
	equal(t, "HOT updates", value(t, conn, "SELECT n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = 'task'"), "10")
	execute(t, conn, "COMMIT")
}

// TestRunAgainOfAKeyThatWaits: an ended task cannot wait while another waits with its key, however
// it ended. When the other no longer waits, it can.
func TestRunAgainOfAKeyThatWaits(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, waits := range []string{"PLAN", "STOP"} {
		execute(t, conn, "TRUNCATE task; INSERT INTO task (id, key, state, input) VALUES (1, 'job', '"+waits+"', '')")
		execute(t, conn, "INSERT INTO task (id, key, state, start, stop, stopping, input) VALUES (2, 'job', 'DONE', now(), now(), NULL, ''), (3, 'job', 'FAIL', now(), now(), NULL, ''), "+
			"(4, 'job', 'GONE', now(), now(), NULL, ''), (5, 'job', 'STOP', now(), now(), NULL, ''), (6, 'job', 'STOP', now(), NULL, true, '')")
		for _, id := range []string{"2", "3", "4", "5", "6"} {
			refused(t, conn, "UPDATE task SET state = 'PLAN' WHERE id = "+id, "23505")
			refused(t, conn, "UPDATE task SET state = 'PLAN', key = 'job', plan = now() WHERE id = "+id, "23505")
		}
		refused(t, conn, "UPDATE task SET state = 'PLAN' WHERE id > 1", "23505")
		execute(t, conn, "UPDATE task SET state = 'PLAN', key = 'another' WHERE id = 2; UPDATE task SET state = 'PLAN', key = NULL WHERE id = 3; DELETE FROM task WHERE id = 1; UPDATE task SET state = 'PLAN' WHERE id = 4")
		equal(t, "waiting", value(t, conn, "SELECT string_agg(concat(id, coalesce(wait_key, '-')), ' ' ORDER BY id) FROM task WHERE state = 'PLAN'"), "2another 3- 4job")
	}
}
