package work

import "fmt"

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
