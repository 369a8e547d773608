package work

import (
	"testing"
	"time"
)

// TestAChangedTableIsLookedAtAgain: the leader then also scans all due tasks. It does not look
// again after its own changes, or if nothing has changed.
func TestAChangedTableIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	looksAgain := func() bool {
		t.Helper()
		l.leader.shape.seen = time.Now().Add(time.Hour)
		if err := l.leader.scan.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.leader.shape.seen = time.Time{}
		if err := l.leader.comesNext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l.leader.scan.Next(true) <= 0
	}
	if looksAgain() {
		t.Error("a table that has not changed is looked at again")
	}
	s.exec("ALTER TABLE task ADD COLUMN mine int")
	if !looksAgain() || looksAgain() {
		t.Error("a change is not looked at once")
	}
}
