package work

import "testing"

// TestFailuresInARow: they pause the job at max_failures. When it is resumed, it counts from 0.
func TestFailuresInARow(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("CREATE TABLE broken AS SELECT true AS yes")
	add := func(columns string) int64 {
		return s.add("input, repeat, active, catchup, plan, max_failures"+columns, "SELECT 1 / (NOT yes)::int FROM broken", "1 hour", "0", 100, s.get("SELECT now() - interval '4.5 hours'"), 3)
	}
	id := add("")
	last := "SELECT state, failures, error FROM task WHERE key IS NULL ORDER BY id DESC LIMIT 1"
	paused := "ERROR:  paused after 3 failures in a row\nHINT:  Set it to PLAN to go on."
	s.eventually("STOP", "SELECT state FROM task ORDER BY id DESC LIMIT 1")
	if got := s.get("SELECT format('%s %s %s', state, failures, error) FROM (" + last + ") AS l"); got != "STOP 3 "+paused {
		t.Error(got)
	}
	s.says("max_failures pauses a job", `"level":"warn"`, `"failures":3`, `"id":`+s.get("SELECT max(id) FROM task"), "pgtaskd act resume "+s.get("SELECT max(id) FROM task"))
	s.exec("UPDATE broken SET yes = false")
	s.exec("UPDATE task SET state = 'PLAN' WHERE state = 'STOP'")
	s.eventually("0", "SELECT count(*) FROM task WHERE plan < now() AND state IN ('PLAN', 'WORK')")
	if got := s.get("SELECT string_agg(format('%s %s %s', state, failures, error IS NULL), ', ' ORDER BY id) FROM task WHERE id >= $1", id); got != "FAIL 0 f, FAIL 1 f, FAIL 2 f, DONE 0 t, DONE 0 t, PLAN 0 t" {
		t.Error(got)
	}
}
