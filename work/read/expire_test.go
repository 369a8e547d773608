package read

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestOverdueTasksThatAreLockedAreLeftOutForAWhile: they are given up later.
func TestOverdueTasksThatAreLockedAreLeftOutForAWhile(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec("INSERT INTO task (input, plan, active) SELECT 'SELECT 1', now() - interval '1 day', '1 s' FROM generate_series(1, 1001)")
	release, now := s.lock(), time.Now().Add(time.Minute) // later than the looks
	s.scan.Holds.Now = func() time.Time { return now }
	s.Exec("INSERT INTO task (input, plan, active) VALUES ('SELECT 1', now() - interval '1 day', '1 s')")
	s.does(s.scan.Begin)
	if tried := s.giveUp(); tried != 1002 || s.State(1002) != "GONE" {
		t.Error(tried, s.State(1002))
	}
	if s.does(s.scan.Begin); s.giveUp() != 0 {
		t.Error("some are tried again at once")
	}
	release()
	now = now.Add(time.Hour)
	if next := s.scan.Next(false); next > 0 {
		t.Error("nothing is done for", next)
	}
	if s.does(s.scan.Begin); s.giveUp() != 1001 || s.Get("SELECT count(*) FROM task WHERE state <> 'GONE'") != "0" {
		t.Error("some are left")
	}
}

// TestOverdueTasksThatHaveNotBeenTriedAreKept: if one task meets a lock, Expire rests and then
// gives up the others, without another full scan.
func TestOverdueTasksThatHaveNotBeenTriedAreKept(t *testing.T) {
	t.Parallel()
	s := staged(t)
	s.Exec("ALTER TABLE task ADD CHECK (id <> 2 OR state <> 'GONE' OR pg_advisory_xact_lock(1)::text IS NOT NULL)")
	s.Exec("INSERT INTO task (input, plan, active) SELECT 'SELECT 1', '2020-01-01', '1 s' FROM generate_series(1, 3000)")
	servertest.Exec(t, servertest.Connect(t, s.dsn), "SELECT pg_advisory_lock(1)")
	s.does(s.scan.Begin)
	if tried := s.giveUp(); tried != 3000 {
		t.Error("overdue are ", tried)
	}
	if left := s.Get("SELECT string_agg(id::text, ' ') FROM task WHERE state <> 'GONE'"); left != "2" {
		t.Error("left are ", left)
	}
}
