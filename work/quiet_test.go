package work

import (
	"strings"
	"testing"
	"time"
)

// ourSessions counts the connections of pgtaskd.
const ourSessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND " +
	`(application_name LIKE 'pgtaskd %' OR application_name LIKE 'pg\_task %')`

// TestAQuietTargetClosesEverything: so does a controller that stands by. Both are back for the next
// plan, and from time to time.
func TestAQuietTargetClosesEverything(t *testing.T) {
	t.Parallel()
	s := play(t, deaf, func(t *Target) { t.Quiet = time.Second })
	second := &stage{t: t, dsn: s.dsn, target: s.target, conn: s.connect()}
	second.serve()
	second.says("standing by")
	s.eventually("0", ourSessions)
	planned := s.add("input, delete, plan", "SELECT 1", false, time.Now().Add(4*time.Second))
	s.becomes(planned, "DONE")
	if late := s.get("SELECT start - plan > '1 s' FROM task WHERE id = $1", planned); late == "true" {
		t.Error("not back for the plan")
	}
	s.eventually("0", ourSessions)
	s.becomes(s.add("input", "SELECT 1"), "DONE") // nobody is told
	for _, line := range []string{"failed", "recovered"} {
		if strings.Contains(s.logged()+second.logged(), line) {
			t.Error("a rest is no trouble")
		}
	}
}
