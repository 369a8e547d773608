package judge

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
	"pgtaskd/work/lane"
)

// TestRemotePidEndsNoSession: a STOP ends the session of a local task. The pid of a remote task
// belongs to another server, so it ends no session here.
func TestRemotePidEndsNoSession(t *testing.T) {
	t.Parallel()
	for remote, ends := range map[string]bool{"": true, "host=elsewhere": false} {
		s := staged(t)
		_, pid, _ := s.session(remote == "")
		id := s.Add("input, remote, state, pid, start", "SELECT 1", remote, "WORK", pid, time.Now())
		servertest.Exec(t, s.Conn, "UPDATE task SET state = 'STOP'")
		s.Orphans.Adopt(id, lane.KeyOf("group", remote))
		if _, err := s.Orphans.evict(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !servertest.Comes(patient, func() bool { return s.alive(pid) != ends }) {
			t.Errorf("of remote %q: its session is there: %t", remote, ends)
		}
	}
}

// TestAnOrphanTakesASlot until its backend is gone; then its row is judged.
func TestAnOrphanTakesASlot(t *testing.T) {
	t.Parallel()
	s := staged(t)
	conn, pid, _ := s.session(true)
	busy := func() int { busy, _, _ := s.Runs.Lanes.Load(); return busy }
	id := s.Add("input, state, attempt, pid, start, atomic", "SELECT 1", "WORK", 1, pid, time.Now().Add(time.Minute), true)
	for range 2 {
		s.Orphans.Adopt(id, lane.KeyOf("group", ""))
	}
	if s.steps(); s.Orphans.all[id] == nil || busy() != 1 || s.State(id) != "WORK" {
		t.Error("while it runs ", busy(), " slots are taken, and it is ", s.State(id))
	}
	_ = conn.Close(t.Context())
	servertest.Wait(t, patient, "its end", func() bool { s.steps(); return s.Orphans.all[id] == nil })
	if busy() != 0 || s.State(id) != "PLAN" || len(s.ended) != 1 {
		t.Error("then ", busy(), " slots are taken, and it is ", s.State(id))
	}
	s.Orphans.Adopt(id, lane.KeyOf("group", ""))
	if s.Orphans.Release(); busy() != 0 || s.Orphans.Len() != 0 {
		t.Error("what is released keeps its slot")
	}
}
