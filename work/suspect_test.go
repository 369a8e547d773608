package work

import "testing"

// TestASuspectStartsAlone: nothing else starts beside a task that looks as if the server had crashed
// twice while it ran.
func TestASuspectStartsAlone(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SELECT pg_advisory_lock(7)")
	suspect := s.add("input, plan", "SELECT pg_advisory_xact_lock_shared(7)", "infinity")
	s.exec("SET session_replication_role = replica")
	s.exec(`UPDATE task SET plan = now(), interrupted = 2, runs = '[{"cause": "crash"}, {"cause": "crash"}]' WHERE id = $1`, suspect)
	s.exec("RESET session_replication_role")
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'WORK'")
	other := s.add(`input, "group"`, "SELECT 1", "other")
	s.exec("SELECT pg_advisory_unlock(7)")
	s.becomes(suspect, "DONE")
	s.becomes(other, "DONE")
	if s.get("SELECT a.stop <= b.start FROM task AS a, task AS b WHERE a.id = $1 AND b.id = $2", suspect, other) != "true" {
		t.Error("another started beside it")
	}
}
