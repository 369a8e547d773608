//go:build noclaim

package work

import "testing"

// TestRemoteOfAnotherTarget: its session in this database is named after a table that has the names of ours, and belongs to the same role.
func TestRemoteOfAnotherTarget(t *testing.T) {
	t.Parallel()
	s, other := play(t), play(t)
	s.drain()
	id := other.add("input, remote", "SELECT pg_sleep(60), 'remote'", s.dsn)
	other.becomes(id, "WORK")
	marked, taken := s.orphans()
	s.serve()
	s.becomes(marked, "DONE")
	s.becomes(taken, "DONE")
	if state := other.state(id); state != "WORK" {
		t.Error("the other target's task is ", state)
	}
}
