//go:build slow

package work

import (
	"strings"
	"testing"
)

// TestMoreLimitsThanCanBeKept: nothing starts, as an unknown limit might forbid it.
func TestMoreLimitsThanCanBeKept(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task_group ("group", slots) SELECT 'g' || n, 1 FROM generate_series(1, 100001) AS n`)
	s.says("more than 100000 rows", "no task starts until some are deleted")
	id := s.add("input", "SELECT 1")
	s.exec(`DELETE FROM task_group WHERE "group" = 'g7'`)
	s.becomes(id, "DONE", "PLAN")
}

// TestWithoutTheRightToLimits: tasks run without limits, and the log says so once. When the right
// is granted, limits apply.
func TestWithoutTheRightToLimits(t *testing.T) {
	t.Parallel()
	s, do := withRoles(t, false)
	s.serve() // the dsn's user owns the table, and the tables beside it
	s.settled()
	s.exec(`INSERT INTO task_group ("group", paused) VALUES ('a', true)`)
	do("REVOKE ALL ON task_group FROM $w")
	const says = "does not limit groups as table"
	s.until("told of it", func() bool { return strings.Contains(s.logged(), says) })
	s.becomes(s.add(`input, "group"`, "SELECT 1", "a"), "DONE", "")
	do("GRANT SELECT ON task_group TO $w")
	s.until("limited", func() bool {
		id := s.add(`input, "group"`, "SELECT 1", "a")
		s.marker()
		return s.state(id) == "PLAN"
	})
	if n := strings.Count(s.logged(), says); n != 1 {
		t.Error("said ", n, " times")
	}
	s.exec("DROP TABLE task_group") // the role may not create it again
	s.until("told of it", func() bool { return strings.Contains(s.logged(), "says: there is none") })
	s.becomes(s.add(`input, "group"`, "SELECT 1", "a"), "DONE", "")
}
