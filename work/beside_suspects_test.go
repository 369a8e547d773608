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

// crashedTwice lets tasks wait that look as if the server had crashed twice while they ran, and
// whose SQL waits for the advisory lock 7.
func (s *stage) crashedTwice(n int) (ids []int64) {
	s.t.Helper()
	for i := range n {
		ids = append(ids, s.add(`input, "group", plan`, "SELECT pg_advisory_xact_lock_shared(7)", fmt.Sprint("suspect ", i), "infinity"))
	}
	s.exec("SET session_replication_role = replica")
	s.exec(`UPDATE task SET plan = now(), interrupted = 2, runs = '[{"cause": "crash"}, {"cause": "crash"}]' WHERE id = ANY ($1)`, ids)
	s.exec("RESET session_replication_role")
	return ids
}
