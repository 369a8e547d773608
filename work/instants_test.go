package work

import (
	"testing"

	"pgtaskd/work/run"
)

// TestInstantsDoNotHinder: queries that take no time, and then turn out to wait, do not keep others
// from starting.
func TestInstantsDoNotHinder(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = run.InstantMost + 8 })
	quick := func(n int) { // one lane each
		s.exec(`INSERT INTO task (input, data, "group") SELECT $1, 'quick', 'g' || i FROM generate_series(1, $2) AS i`, waits, n)
		s.eventually("0", "SELECT count(*) FROM task WHERE data = 'quick' AND state <> 'DONE'")
	}
	quick(100) // and so they are known
	s.exec("UPDATE task SET data = 'known'")
	quick(1000)
	holder := s.connect()
	s.tell(holder, "SELECT pg_advisory_lock(7)")
	s.exec(`INSERT INTO task (input, data, "group") SELECT $1, 'wait', 'w' || i FROM generate_series(1, $2) AS i`, waits, run.InstantMost+4)
	s.eventually("20", "SELECT count(*) FROM task WHERE data = 'wait' AND state = 'WORK'")
	quick(100) // there is room for some
	s.tell(holder, "SELECT pg_advisory_unlock(7)")
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
	if n := s.loop.runs.Profiles.Instants(); n != 0 {
		t.Error(n, "are counted still")
	}
}

// TestSlowTaskBehindInstants: where the sessions that run queries of microseconds are enough for
// the tasks that come first in many lanes, others have the rest of run.
func TestSlowTaskBehindInstants(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = 2 * run.InstantMost })
	leave := s.loop.runs.Profiles.Crowd("SELECT 1")
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT 1', 'g' || i FROM generate_series(1, $1) AS i`, 20) // more than are looked at for one that fits
	s.becomes(s.add(`input, "group"`, "SELECT pg_sleep(0)", "slow"), "DONE")
	if n := s.get("SELECT count(*) FROM task WHERE state = 'DONE'"); n != "1" {
		t.Error(n, "have ended, though there are enough such queries")
	}
	leave()
	s.eventually("0", "SELECT count(*) FROM task WHERE state <> 'DONE'")
}

// TestSlightedTaskStarts: sessions that do not suit the task that comes first make room for it,
// though there is enough for them to do.
func TestSlightedTaskStarts(t *testing.T) {
	t.Parallel()
	s := leading(t, func(t *Target) { t.Run = 1 })
	s.exec(`INSERT INTO task (input, "group") SELECT 'SELECT pg_sleep(0.01)', 'g' || i % 100 FROM generate_series(1, 500) AS i`)
	s.eventually("true", "SELECT count(*) > 0 FROM task WHERE state = 'DONE'")
	urgent := s.add("input, remote, priority", "SELECT 1", s.dsn, 1)
	s.becomes(urgent, "DONE")
	if s.get("SELECT count(*) > 0 FROM task WHERE state = 'PLAN'") != "true" {
		t.Error("it came last")
	}
}
