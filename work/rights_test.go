package work

import (
	"testing"

	"pgtaskd/exec/fault"
)

// TestWhoMayDeleteOrTruncate: a role with that right can cut off running tasks, and lock the table
// until its transaction ends. The leader stays the leader, and no task is changed.
func TestWhoMayDeleteOrTruncate(t *testing.T) {
	t.Parallel()
	for right, statements := range someOf(map[string]struct{ deletes, locks string }{
		"DELETE":   {"DELETE FROM task", "LOCK TABLE task IN ACCESS EXCLUSIVE MODE"},
		"TRUNCATE": {"TRUNCATE task", "TRUNCATE task"},
	}) {
		t.Run(right, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			role := s.role()
			s.exec("GRANT " + right + " ON task TO " + role)
			conn := s.connectAs(role)
			s.becomes(s.add("input", "SELECT pg_sleep(600)"), "WORK")
			s.on(conn, statements.deletes)
			s.quiet()
			s.others()
			waits := s.add("input, plan", "SELECT 1", "2100-01-01")
			s.on(conn, "BEGIN")
			s.on(conn, statements.locks)
			s.says("is locked by", role)
			s.on(conn, "ROLLBACK")
			s.others()
			if row := s.row(waits, "state, input"); row != `{"state":"PLAN","input":"SELECT 1"}` {
				t.Error(row)
			}
			for _, forbidden := range []string{
				"INSERT INTO task (input) VALUES ('SELECT 1')", "UPDATE task SET input = 'SELECT 1'", "SELECT input FROM task",
				"CREATE TRIGGER mine BEFORE INSERT ON task EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			} {
				if _, err := conn.Exec(t.Context(), forbidden); !fault.Has(err, "42501") {
					t.Errorf("%s: %v", forbidden, err)
				}
			}
		})
	}
}
