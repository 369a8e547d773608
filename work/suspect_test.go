package work

import (
	"fmt"
	"testing"

	"pgtaskd/exec"
)

// crashedTwice lets tasks wait that look as if the server had crashed twice while they ran, and
// whose SQL waits for the advisory lock 7.
func (s *stage) crashedTwice(n int) (ids []int64) {
	s.t.Helper()
	for i := range n {
		ids = append(ids, s.add(`input, "group", plan`, "SELECT pg_advisory_xact_lock_shared(7)", fmt.Sprint("suspect ", i), "infinity"))
	}
	s.exec("SET session_replication_role = replica")
	s.exec(`UPDATE task SET plan = now(), interrupted = 2, runs = '[{"cause": "crash"}, {"cause": "crash"}]' WHERE id = ANY ($1)`, ids)
	s.exec("RESET session_replication_role")
	return ids
}

// TestCrossedIsASuspectOfItsOwnKind, unless the server has crashed while it ran as well.
func TestCrossedIsASuspectOfItsOwnKind(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	usual, crossed := s.add("input", "SELECT 1"), s.add("input", "SELECT 1")
	both := s.crashedTwice(1)[0]
	l.reruns[crossed], l.reruns[both] = again{clashed: crossedAlone}, again{clashed: crossedAlone}
	tasks, err := l.read(t.Context(), []int64{usual, crossed, both}, 0)
	if err != nil || len(tasks) != 3 {
		t.Fatal(len(tasks), err)
	}
	for i, want := range []string{"false false", "true true", "true false"} {
		if got := fmt.Sprint(tasks[i].Ticket.Suspect, tasks[i].Crossed); got != want {
			t.Errorf("task %d: %s, want %s", i, got, want)
		}
	}
}

// TestWhatARemoteSaysMakesNoSuspect: that it refuses the COMMIT again and again has others wait for
// nothing.
func TestWhatARemoteSaysMakesNoSuspect(t *testing.T) {
	t.Parallel()
	for remote, want := range map[string]int{"": crossedAlone, "elsewhere": 0} {
		var a again
		for range crossedAlone {
			a, _ = a.crosses(&exec.Failure{SQLState: "40001"}, remote)
		}
		if a.crossed != crossedAlone || a.clashed != want {
			t.Errorf("remote %q: %+v", remote, a)
		}
	}
}
