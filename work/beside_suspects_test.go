//go:build slow

package work

import (
	"fmt"
	"testing"
)

// TestOthersRunBesidesSuspects: suspects start one after the other, each alone, but the others need
// not wait until all have had their turn.
func TestOthersRunBesidesSuspects(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SELECT pg_advisory_lock(7)")
	s.crashedTwice(4)
	s.eventually("1", "SELECT count(*) FROM task WHERE state = 'WORK'")
	var others []int64
	for i := range 12 {
		others = append(others, s.add(`input, "group"`, "SELECT 1", fmt.Sprint("other ", i)))
	}
	for _, id := range others {
		s.becomes(id, "DONE")
	}
	if n := s.get("SELECT count(*) FROM task WHERE state = 'WORK'"); n != "1" {
		t.Errorf("%s suspects run", n)
	}
	s.exec("SELECT pg_advisory_unlock(7)")
}
