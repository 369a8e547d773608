package work

import (
	"testing"

	"pgtaskd/exec/fault"
)

// Tests of what one row must not do to the others: no value of it, and nothing that its table's
// triggers say of it, stops a target.

func TestOddAttempt(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.add("input, attempt", "SELECT 1", 2147483647)
	s.others()
}

// TestOddInterval: what the triggers refuse may have come past them, or have been there before
// them.
func TestOddInterval(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role = replica")
	for _, column := range []string{"live", "timeout", "active", "repeat", "backoff"} {
		s.add("input, "+column, "SELECT 1/0", "178000000 years")
	}
	s.exec("RESET session_replication_role")
	s.others()
}

func TestOddCounters(t *testing.T) {
	t.Parallel()
	s := play(t)
	odd := s.add("input, interrupted, retry, runs", "SELECT 1/0", -2147483648, 2147483647, `{"not": "an array"}`)
	s.eventually("true", "SELECT attempt > 0 FROM task WHERE id = $1", odd)
	s.becomes(odd, "PLAN", "FAIL")
	s.others()
}

// TestOddBase: base is anybody's to write who may insert it, and what replication brings passes no
// trigger.
func TestOddBase(t *testing.T) {
	t.Parallel()
	s := play(t)
	s.exec("SET session_replication_role = replica")
	for _, base := range []string{"infinity", "-infinity", "294276-12-31", "4714-11-24 BC"} {
		s.add("input, base", "SELECT 1", base)
		s.add("input, base, repeat", "SELECT 1", base, "1 hour")
	}
	s.exec("RESET session_replication_role")
	s.others()
	if _, err := s.conn.Exec(t.Context(), "INSERT INTO task (input, base) VALUES ('', 'infinity')"); !fault.Has(err, "23514") {
		t.Error("base may be infinity: ", err)
	}
}
