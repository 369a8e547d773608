package schema

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgtaskd/server"
	"pgtaskd/server/servertest"
	"pgtaskd/sql"
)

func TestDefaultsFromWeakToStrong(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, server.Options{Settings: map[string]string{"pg_task.max": "1"}})
	conn := connect(t, s.DSN("postgres"))
	install(t, conn, task, nil)
	inserted := func(conn *pgx.Conn, what, want string) {
		t.Helper()
		equal(t, what, value(t, conn, "SELECT max FROM task ORDER BY id DESC LIMIT 1"), want)
	}
	const insert = "INSERT INTO task (input) VALUES ('')"
	execute(t, conn, insert)
	inserted(conn, "server", "1")
	execute(t, conn, "ALTER DATABASE postgres SET pg_task.max = 2")
	conn = connect(t, s.DSN("postgres"))
	execute(t, conn, insert)
	inserted(conn, "database", "2")
	execute(t, conn, "ALTER ROLE postgres SET pg_task.max = 3")
	conn = connect(t, s.DSN("postgres"))
	execute(t, conn, insert)
	inserted(conn, "role", "3")
	execute(t, conn, "SET pg_task.max = 4; "+insert)
	inserted(conn, "session", "4")
	execute(t, conn, "BEGIN; SET LOCAL pg_task.max = 5; "+insert+"; COMMIT")
	inserted(conn, "transaction", "5")
	execute(t, conn, "INSERT INTO task (input, max) VALUES ('', 6)")
	inserted(conn, "INSERT", "6")
	// The target's configuration wins over all settings.
	install(t, conn, task, map[string]string{"max": "7"})
	execute(t, conn, insert)
	inserted(conn, "configured", "7")
}

func TestDefaultsBuiltIn(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	const row = `SELECT concat_ws('|', active, live, repeat, timeout, count, max, state, delete, drift, header, save, string, delimiter, escape,
		quote, data, "group", "null", remote, author, attempt, interrupted, rerun, priority, retry, backoff, catchup, overlap, key, settings, parent)
		FROM task ORDER BY id DESC LIMIT 1`
	const want = "01:00:00|00:00:00|00:00:00|00:00:00|0|0|PLAN|t|f|t|f|t|\t|||group|\\N|postgres|0|0|t|0|0|00:01:00|0|f"
	execute(t, conn, "INSERT INTO task (input) VALUES ('')")
	equal(t, "never set", value(t, conn, row), want)
	// After SET LOCAL a setting is ''. For these three that means none, for the others the built-in
	// default.
	for _, column := range wantedColumns() {
		if strings.Contains(column.def, "pg_task.") {
			execute(t, conn, "BEGIN; SET LOCAL pg_task."+pgx.Identifier{column.name}.Sanitize()+" = 'x'; COMMIT")
		}
	}
	execute(t, conn, "INSERT INTO task (input) VALUES ('')")
	equal(t, "set once", value(t, conn, row), strings.Replace(want, `\N`, "", 1))
	execute(t, conn, `SET pg_task.quote = '"'; SET pg_task.escape = '\'; SET pg_task.delimiter = ','; SET pg_task.remote = 'dbname=x'; SET pg_task.id = 7;
		INSERT INTO task (input) VALUES ('')`)
	equal(t, "set", value(t, conn, `SELECT concat(quote, escape, delimiter, remote, parent)
		FROM task ORDER BY id DESC LIMIT 1`), `"\,dbname=x7`)
	equal(t, "of the user of the row", value(t, conn, "SELECT author = current_user AND created = plan FROM task LIMIT 1"), "true")
}

// The check of a new task passes these intervals first. If they differed from the defaults, the
// check would be right but slow.
func TestDefaultIntervalsAreThoseTheCheckLetsBy(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	execute(t, conn, "INSERT INTO task (input) VALUES ('')")
	const lets = `SELECT string_agg(interval_send(m.given[1]::interval)::text, ' ') FROM pg_proc AS p CROSS JOIN regexp_matches(p.prosrc, $$interval '([^']*)'$$, 'g') AS m (given)
		WHERE p.proname = 'pgtaskd_accept' AND p.pronamespace = current_schema()::regnamespace`
	equal(t, "intervals", value(t, conn, lets), value(t, conn, "SELECT concat_ws(' ', interval_send(active), interval_send(backoff), interval_send(live), interval_send(repeat), interval_send(timeout)) FROM task"))
}

func TestMalformedSettingFailsTheInsert(t *testing.T) {
	t.Parallel()
	conn := furnished(t)
	for _, c := range []struct{ setting, value, sqlstate string }{
		{"active", "soon", "22007"},
		{"count", "many", "22P02"},
		{"count", "-1", "23514"},
		{"delete", "maybe", "22P02"},
		{"retry", "99999999999", "22003"},
	} {
		execute(t, conn, "SET pg_task."+c.setting+" = "+sql.Literal(c.value))
		refused(t, conn, "INSERT INTO task (input) VALUES ('')", c.sqlstate)
		execute(t, conn, "RESET pg_task."+c.setting)
	}
}

func TestConfiguredDefaults(t *testing.T) {
	t.Parallel()
	conn := database(t)
	defaults := map[string]string{
		"active": "1 day", "max": "-1000", "delete": "no", "group": `it's \a`, "delimiter": ",", "quote": "", "null": "",
		"until": "2030-01-01 00:00:00+00", "remote": "dbname=x", "retry": "3", "data": "", "repeat": "1 month 2 days",
	}
	install(t, conn, task, defaults)
	complete(t, conn, task, defaults)
	execute(t, conn, "INSERT INTO task (input) VALUES ('')")
	equal(t, "row", value(t, conn, `SELECT concat_ws('|', active, max, delete, "group", delimiter, quote, "null", until = '2030-01-01Z', remote,
		retry, data, repeat) FROM task`), `1 day|-1000|f|it's \a|,|||t|dbname=x|3||1 mon 2 days`)
	execute(t, conn, "SET IntervalStyle = iso_8601; SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'")
	complete(t, conn, task, defaults)
	defaults["max"] = "2"
	changes := install(t, conn, task, defaults)
	if len(changes) != 1 || changes[0].What != "default of column max" {
		t.Errorf("made %v", changes)
	}
	complete(t, conn, task, defaults)

	execute(t, conn, "ALTER TABLE task ADD COLUMN customer int")
	install(t, conn, task, map[string]string{"customer": "42"})
	complete(t, conn, task, map[string]string{"customer": "42"})

	for column, value := range map[string]string{
		"colour": "red", "id": "1", "state": "DONE", "due": "2030-01-01", "hash": "1", "author": "me", "max": "many", "active": "soon",
		"delimiter": "tab", "group": "\x00", "retry": "99999999999", "after": "{1,2}",
	} {
		_, err := Missing(context.Background(), conn, task, Options{Defaults: map[string]string{column: value}})
		if err == nil || !strings.Contains(err.Error(), "default of column "+column+": ") {
			t.Errorf("%s = %q: got %v", column, value, err)
		}
	}
}
