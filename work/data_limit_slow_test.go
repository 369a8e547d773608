//go:build slow

package work

import (
	"strings"
	"testing"
)

// TestDataLimit: texts over the limit are not fetched. A second run reads a long text again.
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
	// Long names, which the lane and the session use.
	id := s.add(`input, "group", "null"`, "SELECT NULL, length(current_setting('pg_task.group'))", strings.Repeat("g", 60_000), strings.Repeat("n", 50_000))
	s.becomes(id, "DONE")
	if got := s.get("SELECT right(output, 10) || length(output) FROM task WHERE id = $1", id); got != "nnnn\t6000050022" {
		t.Error(got)
	}
	s.others()
}

// TestOthersHaveMostOfTheTimeBesideCopiesOfTooLongData: a task over data_limit repeats like any
// other. If writing that end is slow, the next end of this kind waits, and no other end does.
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
