package judge

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// patient limits how long a test waits.
const patient = 25 * time.Second

// TestBackendOfALostConnectionThatWaitsForUsIsEnded: the server may not notice for hours that its
// client is gone, and the task would wait as long.
func TestBackendOfALostConnectionThatWaitsForUsIsEnded(t *testing.T) {
	t.Parallel()
	s := staged(t)
	_, pid, since := s.session(false)
	id := s.Add("input, state, attempt, pid, start, atomic", "SELECT 1", "WORK", 1, pid, time.Now().Add(time.Minute), true)
	one := s.task(run.Row{ID: id})
	s.Lost.Add(run.Outcome{Task: one, Kind: run.Lost, PID: pid, Since: since, Stop: time.Now()})
	servertest.Wait(t, patient, "back to PLAN", func() bool {
		s.steps()
		return s.State(id) == "PLAN"
	})
	if len(s.ended) != 1 || s.ended[0].State != "PLAN" || len(s.over) != 1 || s.over[0].Task.Row.ID != id || s.Next() != hold.Never {
		t.Error("it has told ", s.ended, s.over, s.written)
	}
}

// TestFatesOfLostRuns: a run that somebody has killed FAILs, unless the server goes down too. The
// rows of other runs are judged when their backends are gone.
func TestFatesOfLostRuns(t *testing.T) {
	t.Parallel()
	now := time.Now()
	began := now.Add(-time.Minute)
	for name, c := range map[string]struct {
		kind          run.Kind
		remote        string
		stop          time.Time
		queued, alive bool
		want          fate
	}{
		"lost":                             {kind: run.Lost, stop: now, want: unknown},
		"lost, and its backend is there":   {kind: run.Lost, stop: now, alive: true, want: lasts},
		"lost, and a remote's is a number": {kind: run.Lost, stop: now, remote: "dbname=x", alive: true, want: unknown},
		"lost while it was queued":         {kind: run.Lost, stop: now, queued: true, want: unbegun},
		"killed":                           {kind: run.Killed, stop: now.Add(-tick), want: failed},
		"killed just now":                  {kind: run.Killed, stop: now, want: lasts},
		"killed before the term":           {kind: run.Killed, stop: began.Add(-tick), want: unknown},
	} {
		o := run.Outcome{Task: &run.Task{Row: run.Row{Remote: c.remote}}, Kind: c.kind, Stop: c.stop, Queued: c.queued}
		if got := fateOf(&o, c.alive, began, now); got != c.want {
			t.Error(name, ": ", got, ", not ", c.want)
		}
	}
}
