package work

import (
	"testing"

	"pgtaskd/exec/fault"
)

// TestOddValuesOfARowStopNoOther: the values may have bypassed the triggers that refuse them (by
// replication), or may be older than the triggers.
func TestOddValuesOfARowStopNoOther(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(s *stage){
		"attempt": func(s *stage) { s.add("input, attempt", "SELECT 1", 2147483647) },
		"intervals": func(s *stage) {
			for _, column := range []string{"live", "timeout", "active", "repeat", "backoff"} {
				s.add("input, "+column, "SELECT 1/0", "178000000 years")
			}
		},
		"base": func(s *stage) {
			for _, base := range []string{"infinity", "-infinity", "294276-12-31", "4714-11-24 BC"} {
				s.add("input, base", "SELECT 1", base)
				s.add("input, base, repeat", "SELECT 1", base, "1 hour")
			}
		},
		"counters": func(s *stage) {
			odd := s.add("input, interrupted, retry, runs", "SELECT 1/0", -2147483648, 2147483647, `{"not": "an array"}`)
			s.eventually("true", "SELECT attempt > 0 FROM task WHERE id = $1", odd)
			s.becomes(odd, "PLAN", "FAIL")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t)
			s.exec("SET session_replication_role = replica")
			add(s)
			s.exec("RESET session_replication_role")
			s.others()
		})
	}
}

// TestAnINSERTWithAnInfiniteBaseIsRefused: by a CHECK.
func TestAnINSERTWithAnInfiniteBaseIsRefused(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	if _, err := s.conn.Exec(t.Context(), "INSERT INTO task (input, base) VALUES ('', 'infinity')"); !fault.Has(err, "23514") {
		t.Error("base may be infinity: ", err)
	}
}
