package work

import "testing"

// TestARoleIsServedThatLogsInAsAnother by ALTER ROLE … SET role: its tasks run as that one, each of
// them, and end as the role that has logged in.
func TestARoleIsServedThatLogsInAsAnother(t *testing.T) {
	t.Parallel()
	s := owned(t)
	role, team := s.target.Connect["user"], s.role()
	s.exec("GRANT " + team + " TO " + role + "; ALTER ROLE " + role + " SET role = " + team)
	s.serve()
	s.settled()
	for range 2 {
		id := s.add("input", "SELECT session_user || ' ' || current_user")
		s.becomes(id, "DONE")
		if got := s.get("SELECT output FROM task WHERE id = $1", id); got != role+" "+team {
			t.Error(got)
		}
	}
}
