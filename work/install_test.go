package work

import "testing"

// TestTheDsnsUserMakesWhatIsNotThere: this user owns the table, and the role gets the rights that
// serving needs.
func TestTheDsnsUserMakesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s, _ := withRoles(t, false)
	if report := Check(t.Context(), s.target); len(report.Faults) > 0 {
		t.Errorf("check complains %q", report.Faults)
	}
	s.serve()
	s.settled()
	s.becomes(s.add("input", "SELECT 1"), "DONE")
	if owner := s.get("SELECT tableowner FROM pg_tables WHERE tablename = 'task'"); owner != s.target.Admin["user"] {
		t.Error("the owner is ", owner)
	}
	s.exec("ALTER TABLE task DROP COLUMN notice")
	s.eventually("1", "SELECT count(*) FROM pg_attribute WHERE attrelid = 'task'::regclass AND attname = 'notice'")
}
