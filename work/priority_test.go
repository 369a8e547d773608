package work

import "testing"

// TestPriorityGoesBeforeTasksThatSuitASession: a session that does not suit the task with the
// highest priority makes room for it, although it suits other tasks.
func TestPriorityGoesBeforeTasksThatSuitASession(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = 1 })
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT pg_sleep(0.01)', 'g' || i % 100 FROM generate_series(1, 500) AS i`)
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'DONE'")
	urgent := s.add("input, remote, priority", "SELECT 1", s.dsn, 1)
	s.becomes(urgent, "DONE")
	if s.get("SELECT count(*) > 0 FROM task WHERE state = 'PLAN'") != "true" {
		t.Error("it came last")
	}
}
