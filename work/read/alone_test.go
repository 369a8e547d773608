package read

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work/run"
)

// TestNotAlone: Alone leaves a task to the scan if the task may not start, or is not the only one.
func TestNotAlone(t *testing.T) {
	t.Parallel()
	const one = "(input, max, plan, state) VALUES "
	for name, rows := range servertest.SomeOf(map[string]string{
		"nothing":     "(input, plan) VALUES ('a', 'infinity')",
		"two":         one + "('a', 0, now(), 'PLAN'), ('b', 0, now(), 'PLAN')",
		"under way":   one + "('a', 0, now(), 'PLAN'), ('b', 0, now(), 'WORK')",
		"a pause":     one + "('a', -1, now(), 'PLAN')",
		"too late":    one + "('a', 0, now() - interval '2 hours', 'PLAN')",
		"for later":   one + "('a', 0, now() + interval '1 hour', 'PLAN')",
		"an old one":  one + "('a', 0, now(), 'TAKE')",
		"it is ended": one + "('a', 0, now(), 'DONE')",
		"it repeats":  "(input, repeat) VALUES ('a', '1 hour')",
		"by cron":     "(input, cron) VALUES ('a', '@daily')", // the trigger refuses this INSERT
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := staged(t)
			s.Exec("SET session_replication_role TO replica; INSERT INTO task " + rows + "; RESET session_replication_role")
			before := s.Get("SELECT string_agg(t::text, ',') FROM task AS t")
			alone, err := s.prefetch.Alone(t.Context())
			if after := s.Get("SELECT string_agg(t::text, ',') FROM task AS t"); alone != nil || err != nil || before != after {
				t.Error(alone, err, after)
			}
		})
	}
}

// TestATableThatRefusesIsLeftToOthers: Alone returns no error if the server refuses to read the
// task. It returns our own errors, and the loss of the connection.
func TestATableThatRefusesIsLeftToOthers(t *testing.T) {
	t.Parallel()
	s := staged(t)
	id := s.Add("input", "SELECT 1")
	other := errors.New("too many limits")
	s.prefetch.Startable = func(context.Context, []*run.Task) ([]*run.Task, error) { return nil, other }
	if _, err := s.prefetch.Alone(t.Context()); !errors.Is(err, other) {
		t.Error("an error of ours: ", err)
	}
	s.prefetch.Startable = func(_ context.Context, tasks []*run.Task) ([]*run.Task, error) { return tasks, nil }
	s.Exec("ALTER TABLE task RENAME TO other")
	if task, err := s.prefetch.Alone(t.Context()); task != nil || err != nil {
		t.Error("a table that is gone: ", task, err)
	}
	s.Exec("ALTER TABLE other RENAME TO task")
	if task, err := s.prefetch.Alone(t.Context()); err != nil || task == nil || task.Row.ID != id {
		t.Error("nothing refuses it: ", task, err)
	}
	pid := int(s.scan.Control.Conn().PgConn().PID())
	servertest.Wait(t, time.Minute, "the end of the connection", func() bool {
		return s.Get("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid = $1", pid) == "0"
	})
	if _, err := s.prefetch.Alone(t.Context()); err == nil {
		t.Error("the connection is lost, and that is no error")
	}
}
