package smoke

import (
	"fmt"
	"strings"
	"testing"
)

// pids returns the sessions of a lane's tasks in the order of their starts, as letters: a a b.
func (u *user) pids(group string) string {
	u.Helper()
	u.until(`SELECT bool_and(stop IS NOT NULL) FROM ` + u.table + ` WHERE "group" = ` + group)
	var letters []string
	names := map[string]string{}
	for _, pid := range u.values(`SELECT pid FROM ` + u.table + ` WHERE "group" = ` + group + ` ORDER BY start`) {
		if names[pid] == "" {
			names[pid] = string(rune('a' + len(names)))
		}
		letters = append(letters, names[pid])
	}
	return strings.Join(letters, " ")
}

func TestCount(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for count, want := range map[int]string{1: "a b c d e", 2: "a a b b c", 5: "a a a a a"} {
		g := fmt.Sprintf("'count %d'", count)
		u.exec(fmt.Sprintf(`INSERT INTO task ("group", count, input) SELECT %s, %d, 'SELECT 1' FROM generate_series(1, 5)`, g, count))
		if got := u.pids(g); got != want {
			t.Errorf("count %d: the sessions are %s, want %s", count, got, want)
		}
		used := u.values(`SELECT DISTINCT pid FROM task WHERE "group" = ` + g + ` AND pid NOT IN
			(SELECT pid FROM (SELECT pid, count(*) FROM task WHERE "group" = ` + g + ` GROUP BY pid) AS p WHERE count < ` + fmt.Sprint(count) + `)`)
		u.until(`SELECT NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE pid IN (` + strings.Join(used, ",") + `) AND application_name LIKE 'pg_task%count%')`)
	}
}

func TestLive(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", live, input) SELECT ` + g + `, '1 hour', 'SELECT 1' FROM generate_series(1, 4)`)
	if got := u.pids(g); got != "a a a a" {
		t.Errorf("live 1 hour: the sessions are %s", got)
	}
	// The session also takes tasks that come later, but none of another lane.
	u.becomes(u.add("live, input", "'1 hour', 'SELECT 1'"), "DONE")
	if got := u.pids(g); got != "a a a a a" {
		t.Errorf("live 1 hour: the sessions are %s", got)
	}
	u.exec(`INSERT INTO task ("group", input) SELECT 'other ' || n, 'SELECT pg_sleep(0.05)' FROM generate_series(1, 20) AS n`)
	u.until(`SELECT count(*) = 20 FROM task WHERE "group" LIKE 'other %' AND stop IS NOT NULL`)
	u.is(`(SELECT count(*) FROM task WHERE "group" LIKE 'other %' AND pid IN (SELECT pid FROM task WHERE "group" = `+g+`))`, "0")

	// A session that is old enough takes no more tasks; at the fourth task it is certainly old
	// enough.
	u.exec(`INSERT INTO task ("group", live, input) SELECT 'old', '1.5 s', 'SELECT pg_sleep(1), backend_start FROM pg_stat_get_activity(pg_backend_pid())'
		FROM generate_series(1, 4)`)
	if got := u.pids("'old'"); got == "a a a a" {
		t.Error("live 1.5 s: all have one session")
	}
	u.is(`(SELECT bool_and(next IS NOT DISTINCT FROM pid OR start >= born + interval '1.5 s') FROM (
		SELECT pid, lead(pid) OVER w AS next, lead(start) OVER w AS start, split_part(split_part(output, E'\n', 2), E'\t', 2)::timestamptz AS born
		FROM task WHERE "group" = 'old' WINDOW w AS (ORDER BY task.start)) AS o WHERE next IS NOT NULL)`, "t")
}

// TestCountAndLive: with both set, the session ends when either is reached.
func TestCountAndLive(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	g := group(t)
	u.exec(`INSERT INTO task ("group", count, live, input) SELECT ` + g + `, 3, '1 hour', 'SELECT 1' FROM generate_series(1, 4)`)
	if got := u.pids(g); got != "a a a b" {
		t.Errorf("the sessions are %s, want a a a b", got)
	}
}

// TestSessionLetsGo: locks and other remains in a session are gone when its task ends, not only
// when the session is used again.
func TestSessionLetsGo(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	u.becomes(u.add("input", "'SELECT pg_advisory_lock(20260101)'"), "DONE")
	u.until("SELECT NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 20260101)")
	u.becomes(u.add("input", "'CREATE TEMP TABLE lets_go ()'"), "DONE")
	u.until("SELECT NOT EXISTS (SELECT FROM pg_class WHERE relname = 'lets_go')")
}

// TestLockOfTheTaskBefore: a lane's next task may run on another session than the one that still
// holds the last task's lock.
func TestLockOfTheTaskBefore(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for range 5 {
		row := u.becomes(u.add("input, timeout", "'SELECT pg_advisory_lock(20260102)', '5 s'"), "DONE")
		u.shows(row, "sqlstate", "NULL")
	}
}

// TestClientEncoding: output in an encoding that the task has set, in which quotes may be parts of
// characters.
func TestClientEncoding(t *testing.T) {
	t.Parallel()
	u := shared.user(t)
	for _, encoding := range []string{"LATIN1", "WIN1252", "SJIS", "GB18030", "BIG5", "EUC_JP", "SQL_ASCII"} {
		id := u.add("input", "$$SET client_encoding TO '"+encoding+"'; SELECT 'a', 'b' AS c$$")
		u.shows(u.becomes(id, "DONE"), "output", "SET\n?column?\tc\na\tb")
		u.until("SELECT stop IS NOT NULL AND output LIKE E'SET%' FROM task WHERE id = $1",
			u.add("input", "$$SET client_encoding TO '"+encoding+"'; SELECT U&'\\00FC\\8868'$$"))
	}
}
