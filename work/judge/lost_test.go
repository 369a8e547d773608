package judge

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work/run"
)

// patient bounds how long a test waits for what must come.
const patient = 25 * time.Second

// TestBackendOfALostConnectionThatWaitsForUsIsEnded: the server may not know that its client is
// gone, and would wait for hours; its task would wait with it.
func TestBackendOfALostConnectionThatWaitsForUsIsEnded(t *testing.T) {
	t.Parallel()
	s := staged(t)
	_, pid, since := s.session(false)
	id := s.Add("input, state, attempt, pid, start, atomic", "SELECT 1", "WORK", 1, pid, time.Now().Add(time.Minute), true)
	s.Lost.Add(run.Outcome{Task: s.task(run.Row{ID: id}), Kind: run.Lost, PID: pid, Since: since, Stop: time.Now()})
	servertest.Wait(t, patient, "back to PLAN", func() bool {
		s.steps()
		return s.State(id) == "PLAN"
	})
	if len(s.ended) != 1 || s.ended[0].State != "PLAN" || len(s.over) != 1 || s.over[0].Task.Row.ID != id || s.Next() != never {
		t.Error("it has told ", s.ended, s.over, s.written)
	}
}

// TestARunThatWasKilledHasEnded: a person has ended its session. Where the server went down with it,
// its row is judged.
func TestARunThatWasKilledHasEnded(t *testing.T) {
	t.Parallel()
	s := staged(t)
	_, pid, since := s.session(false)
	servertest.Exec(t, s.Conn, "SELECT pg_terminate_backend($1, 10000)", pid)
	for name, c := range map[string]struct {
		stop            time.Time
		waits, finished bool
	}{
		"just now":            {time.Now().Add(time.Hour), true, false},
		"in this term":        {s.began, false, true},
		"before it had begun": {s.began.Add(-time.Second), false, false},
	} {
		id := s.Add("input, plan", "SELECT 1", "infinity")
		s.written, s.over = nil, nil
		s.Lost.Add(run.Outcome{Task: s.task(run.Row{ID: id}), Kind: run.Killed, PID: pid, Since: since, Start: c.stop, Stop: c.stop})
		servertest.Wait(t, patient, name, func() bool {
			s.steps()
			return c.waits || len(s.written)+len(s.over) > 0
		})
		if waits := s.Next() != never; waits != c.waits || (len(s.written) == 1 && s.written[0].Kind == run.Finished) != c.finished {
			t.Error(name, ": it waits ", waits, ", and its end is ", s.written)
		}
		clear(s.Lost.runs)
	}
}
