package work

import (
	"strings"
	"testing"
)

// TestATaskWithALongNameHasItsLane: all tasks of the group run, one at a time.
func TestATaskWithALongNameHasItsLane(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec(`INSERT INTO task (input, "group", delete) SELECT 'SELECT pg_sleep(0.01)', $1, false FROM generate_series(1, 10)`, strings.Repeat("g", 65000))
	s.eventually("10", "SELECT count(*) FROM task WHERE state = 'DONE'")
	if n := s.get("SELECT count(*) FROM task AS a JOIN task AS b ON a.id < b.id AND a.stop > b.start"); n != "0" {
		t.Error(n, " run beside others")
	}
}
