//go:build slow

package work

import (
	"strings"
	"testing"
	"time"
)

// TestLockedAtDrain: a row that somebody has locked does not keep the controller from ending for
// ever.
func TestLockedAtDrain(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Grace = time.Second })
	odd := s.add("input", "SELECT pg_sleep(0.4); SELECT 1/0")
	s.becomes(odd, "WORK")
	defer s.lock(odd, "FOR UPDATE")()
	s.quiet()
	s.drain()
}

// TestTableLockedBesideStandby: the leader goes on leading while its table is locked. Another
// controller would meet the same lock, and could not know how the tasks have ended that ran
// meanwhile.
func TestTableLockedBesideStandby(t *testing.T) {
	t.Parallel()
	s := play(t)
	own := s.add("input, rerun", "BEGIN; SELECT 1; COMMIT; SELECT pg_sleep(1)", false)
	s.becomes(own, "WORK")
	leader := s.get("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND mode = 'ExclusiveLock' ORDER BY pid LIMIT 1")
	s.serve()
	s.until("standby", func() bool { return strings.Contains(s.logged(), "standing by") })
	tx, err := s.connect().Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE task"); err != nil {
		t.Fatal(err)
	}
	s.until("failures", func() bool { return strings.Contains(s.logged(), "is locked by") })
	if _, err := tx.Exec(t.Context(), "SELECT pg_sleep(4)"); err != nil { // longer than the lock limit, again
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.becomes(own, "DONE")
	if row := s.row(own, "attempt, interrupted"); row != `{"attempt":1,"interrupted":0}` {
		t.Error(row)
	}
	if now := s.get("SELECT pid FROM pg_stat_activity WHERE pid = $1", leader); now != leader {
		t.Error("the leader is gone")
	}
	if n := s.leads(); n > 2 { // it says so again when all is well
		t.Errorf("led %d times", n)
	}
}
