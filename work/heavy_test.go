//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestHeavyEnds: outputs that are large all of a sudden, behind small ones of their like, are
// written whole and once, wherever they run.
func TestHeavyEnds(t *testing.T) {
	t.Parallel()
	for name, columns := range someOf(map[string]string{"here": "NULL", "elsewhere": "'here'"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, func(target *Target) { target.Remotes = map[string]string{"here": target.Connect.String()} })
			s.exec(`INSERT INTO task (input, "group", remote, data, delete)
				SELECT 'SELECT repeat(''x'', current_setting(''pg_task.data'')::int)', n % 3, ` + columns + `, CASE WHEN n <= 300 THEN 10 WHEN n % 7 = 0 THEN 300000 ELSE 20 END, false
				FROM generate_series(1, 600) AS n`)
			s.eventually("0", "SELECT count(*) FROM task WHERE state IN ('PLAN', 'TAKE', 'WORK')")
			s.eventually("600", "SELECT count(*) FROM task WHERE state = 'DONE' AND length(output) = data::int AND interrupted = 0 AND attempt = 1")
			s.others()
		})
	}
}

// TestHeavyEndOfALockedRow: some ends that are large may wait for their rows without a slot, so
// that others go on.
func TestHeavyEndOfALockedRow(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.Run = 4 })
	begin := func(n int, size string) (release func()) {
		var ids []int64
		var held []func()
		s.exec("SELECT pg_advisory_lock(1)")
		for i := range n {
			ids = append(ids, s.add(`input, "group"`, "SELECT pg_advisory_xact_lock_shared(1); SELECT repeat('x', "+size+")", fmt.Sprint(size, i)))
		}
		for _, id := range ids {
			s.becomes(id, "WORK")
			held = append(held, s.lock(id, "FOR UPDATE"))
		}
		s.exec("SELECT pg_advisory_unlock(1)")
		s.quiet()
		return func() {
			for _, release := range held {
				release()
			}
			for _, id := range ids {
				s.becomes(id, "DONE")
			}
		}
	}
	release := begin(4, "100000")
	s.others()
	release()
	release = begin(4, "8000000")
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	release()
	s.others()
}

// TestDataLimit: longer texts are not fetched, and a retry or another try brings a long one again.
func TestDataLimit(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.DataLimit = 100_000 })
	long := strings.Repeat("x", 90_000)
	input := s.add("input", "SELECT 1 --"+strings.Repeat("x", 100_000))
	data := s.add("input, data, retry", "SELECT 1", strings.Repeat("ü", 50_001), 0)
	for id, want := range map[int64]string{
		input: `{"error":"ERROR:  column \"input\" is too long\nDETAIL:  It has 100011 bytes; data_limit of the target is 100000.","sqlstate":"54000"}`,
		data:  `{"error":"ERROR:  column \"data\" is too long\nDETAIL:  It has 100002 bytes; data_limit of the target is 100000.","sqlstate":"54000"}`,
	} {
		s.becomes(id, "FAIL")
		if got := s.row(id, "error, sqlstate"); got != want {
			t.Error(got)
		}
	}
	for name, c := range map[string]struct{ input, state, output string }{
		"query":                     {"SELECT length(current_setting('pg_task.data')) /*" + long + "*/", "DONE", "90000"},
		"not in a transaction":      {"COMMIT; SELECT length(current_setting('pg_task.data')) /*" + long + "*/", "DONE", "COMMIT\n90000"},
		"not in one, as turns out":  {"CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE sql AS 'SELECT 1'; VACUUM /*" + long + "*/", "FAIL", "CREATE FUNCTION"},
		"takes our statements away": {"DEALLOCATE ALL; SELECT length(current_setting('pg_task.data')) /*" + long + "*/", "DONE", "DEALLOCATE ALL\n90000"},
		"and then an error":         {"SELECT 1/0 /*" + long + "*/", "FAIL", "<null>"},
	} {
		id := s.add("input, data", c.input, long)
		s.becomes(id, c.state)
		if got := s.get("SELECT coalesce(output, '<null>') FROM task WHERE id = $1 AND (length(error) > 60000) IS NOT DISTINCT FROM (CASE WHEN state = 'FAIL' THEN true END)", id); got != c.output && c.state == "DONE" {
			t.Error(name, s.row(id, "output, left(error, 200) AS error"))
		}
	}
	// Long names, which the lane and the session know.
	id := s.add(`input, "group", "null"`, "SELECT NULL, length(current_setting('pg_task.group'))", strings.Repeat("g", 60_000), strings.Repeat("n", 50_000))
	s.becomes(id, "DONE")
	if got := s.get("SELECT right(output, 10) || length(output) FROM task WHERE id = $1", id); got != "nnnn\t6000050022" {
		t.Error(got)
	}
	s.others()
}

// TestOthersHaveMostOfTheTimeBesideCopiesOfTooLongData: a task over data_limit repeats itself as any
// other. Where that takes its time, the next such end has to wait, and no other has.
func TestOthersHaveMostOfTheTimeBesideCopiesOfTooLongData(t *testing.T) {
	t.Parallel()
	s := play(t, func(target *Target) { target.DataLimit = 100_000 })
	s.exec("ALTER TABLE task ADD CHECK (parent IS NULL OR data IS NULL OR pg_sleep(0.12)::text IS NOT NULL)")
	s.exec("INSERT INTO task (input, data, repeat) SELECT 'SELECT 1', repeat('x', 100001), '1 day' FROM generate_series(1, 3)")
	s.eventually("1", "SELECT count(*) FROM task WHERE parent IS NOT NULL")
	s.others()
	s.eventually("3", "SELECT count(*) FROM task AS t JOIN task AS n ON n.id = t.next WHERE t.state = 'FAIL' AND n.data = t.data")
	const pauses = "SELECT count(*) FROM (SELECT created - lag(created) OVER (ORDER BY created) AS pause FROM task WHERE parent IS NOT NULL) AS c WHERE pause < '1.6 s'"
	if got := s.get(pauses); got != "0" {
		t.Errorf("%s follow at once", got)
	}
}
