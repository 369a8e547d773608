//go:build slow

package work

import (
	"fmt"
	"strings"
	"testing"
)

// TestVeryManyIDsThatAreCommitted end no series and hold up nobody for long.
func TestVeryManyIDsThatAreCommitted(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role = replica")
	s.exec("INSERT INTO task (id, plan, state, start, stop, input) SELECT 100 + g, now(), 'DONE', now(), now(), '' FROM generate_series(1, 600000) AS g")
	s.exec("SET session_replication_role = origin; SELECT setval('task_id_seq', 101)")
	for id, values := range []string{
		"'SELECT 1', '1 day', false, '1 hour', now()",
		"'SELECT 1/0', '1 day', false, '1 hour', now()",
		"'SELECT 1', '1 day', true, '1 hour', now()",
		"'SELECT 1', '1 day', false, '1 hour', now() - interval '2 hours'",
	} {
		s.exec("SELECT setval('task_id_seq', 101)")
		s.exec(fmt.Sprintf("INSERT INTO task (id, delete, max_failures, input, repeat, overlap, active, plan) VALUES (%d, false, 2, %s)", id, values))
		s.eventually("true", fmt.Sprintf("SELECT next > 600000 AND stop IS NOT NULL FROM task WHERE id = %d", id))
	}
	if met := s.get("SELECT coalesce(string_agg(concat(id, ' ', state, ' ', error), E'\n'), '') FROM task WHERE id < 4 AND attempt > 1 OR state = 'STOP' OR error LIKE '%repetition%'"); met != "" {
		t.Error(met)
	}
	if strings.Contains(s.logged(), "refuses") || s.leads() > 1 {
		t.Error("the leader has met more than that")
	}
}
