package work

import (
	"context"
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestNoSessionsWithoutLead: who stands by again keeps no session when what still ran there has
// ended.
func TestNoSessionsWithoutLead(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(0.5)")
	s.becomes(id, "WORK")
	giveBack := s.usurp()
	s.eventually("0", "SELECT count(*) "+sessions)
	giveBack()
	s.becomes(id, "DONE")
}

// TestDrainWithoutLead: one that has lost the lead and knows ends that it could not write leaves
// them to the leader, and does not wait.
func TestDrainWithoutLead(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input", "SELECT pg_sleep(0.5)")
	s.becomes(id, "WORK")
	giveBack := s.usurp()
	s.eventually("0", "SELECT count(*) "+sessions)
	began := time.Now()
	s.drain()
	if took := time.Since(began); took > servertest.Limit(10*time.Second) || s.err != nil {
		t.Errorf("it took %s: %v", took, s.err)
	}
	giveBack()
}

// TestNobodyWaitsWithoutLead: a task that waits for its mark when the lead is lost waits no longer,
// and runs when it is regained.
func TestNobodyWaitsWithoutLead(t *testing.T) {
	t.Parallel()
	s := play(t)
	id := s.add("input, plan", "BEGIN; COMMIT; SELECT 1", s.get("SELECT now() + interval '1 s'"))
	release := s.lock(id, "FOR UPDATE")
	s.eventually("1", "SELECT count(*) "+sessions)
	giveBack := s.usurp()
	s.eventually("0", "SELECT count(*) "+sessions)
	release()
	giveBack()
	s.becomes(id, "DONE")
}

// usurp takes the lead away, and gives it back when it is called upon.
func (s *stage) usurp() (giveBack func()) {
	s.t.Helper()
	lock := "pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
	key := s.get("SELECT " + numbers + " FROM " + lock)
	other, locked := s.connect(), make(chan error, 1)
	go func() {
		_, err := other.Exec(context.WithoutCancel(s.t.Context()), "SELECT pg_advisory_lock("+key+")")
		locked <- err
	}()
	s.eventually("1", "SELECT count(*) FROM "+lock+" AND NOT granted")
	s.exec("SELECT pg_terminate_backend(pid) FROM " + lock + " AND granted")
	if err := <-locked; err != nil {
		s.t.Fatal(err)
	}
	return func() {
		s.t.Helper()
		if _, err := other.Exec(s.t.Context(), "SELECT pg_advisory_unlock("+key+")"); err != nil {
			s.t.Fatal(err)
		}
	}
}
