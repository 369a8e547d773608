package work

import (
	"strings"
	"testing"
	"time"

	"pgtaskd/work/target"
)

// TestSettingsChangeWithoutADrain: running tasks go on, and later tasks obey the new settings.
func TestSettingsChangeWithoutADrain(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Run, t.Changes = 1, target.NewChanges() })
	s.exec("SELECT pg_advisory_lock(7)")
	const held = "SELECT pg_advisory_xact_lock_shared(7)"
	first := s.add(`input, "group"`, held, "a")
	s.becomes(first, "WORK")
	second, third := s.add(`input, "group"`, held, "b"), s.add(`input, "group"`, held, "c")
	changed := s.target
	changed.Run, changed.OutputLimit, changed.Grace, changed.Idle = 3, 10, time.Minute, 0
	s.target.Changes.Set(changed)
	s.becomes(second, "WORK")
	s.becomes(third, "WORK")

	changed.Run = 2
	s.target.Changes.Set(changed)
	s.until("the second change", func() bool { return strings.Count(s.logged(), "settings changed") == 2 })
	fourth := s.add(`input, "group"`, "SELECT repeat('x', 9) FROM generate_series(1, 3)", "d")
	s.stillRun(first, second, third)
	if state := s.state(fourth); state == "WORK" || state == "DONE" {
		t.Error("it runs beside three others: ", state)
	}
	s.exec("SELECT pg_advisory_unlock(7)")
	for _, id := range []int64{first, second, third, fourth} {
		s.becomes(id, "DONE")
	}
	if output := s.get("SELECT output FROM task WHERE id = $1", fourth); !strings.HasPrefix(output, "xxxxxxxxx\n") || strings.Count(output, "x\n") != 1 {
		t.Errorf("the output is %q", output)
	}
	// -.
	s.eventually("0", "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'pg\\_task %'")
	if n := s.leads(); n != 1 {
		t.Errorf("led %d times", n)
	}
	if row := s.get("SELECT bool_and(attempt = 1 AND interrupted = 0 AND runs IS NULL) FROM task"); row != "true" {
		t.Error("something was cancelled")
	}
	// A drain obeys the latest grace, and a new loop the latest settings.
	again := newLoop(t.Context(), newService(s.target, zerologNone))
	if live := again.live.Load(); live.Run != 2 || live.Grace != time.Minute {
		t.Errorf("%+v", live)
	}
}

func (s *stage) stillRun(ids ...int64) {
	s.t.Helper()
	for _, id := range ids {
		if state := s.state(id); state != "WORK" {
			s.t.Errorf("task %d is %s", id, state)
		}
	}
}

// TestKeepChangesWithoutADrain: running tasks go on, and the leader begins to delete at once.
func TestKeepChangesWithoutADrain(t *testing.T) {
	t.Parallel()
	s := play(t, func(t *Target) { t.Changes = target.NewChanges() })
	s.exec("SELECT pg_advisory_lock(7)")
	runs := s.add("input", "SELECT pg_advisory_xact_lock_shared(7)")
	s.becomes(runs, "WORK")
	old := s.add("input, state, start, stop", "SELECT 1", "DONE", time.Now(), time.Now().Add(-time.Hour))
	changed := s.target
	changed.Keep = target.Keep{"DONE": {Micros: 60_000_000}}
	s.target.Changes.Set(changed)
	s.eventually("0", "SELECT count(*) FROM task WHERE id = $1", old)
	s.stillRun(runs)
	s.exec("SELECT pg_advisory_unlock(7)")
	s.becomes(runs, "DONE")
	if n := s.leads(); n != 1 || s.row(runs, "attempt, interrupted") != `{"attempt":1,"interrupted":0}` {
		t.Errorf("led %d times: %s", n, s.row(runs, "attempt, interrupted"))
	}
}
