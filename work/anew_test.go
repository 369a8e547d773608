package work

import (
	"testing"
	"time"
)

// TestATableThatHasChangedIsLookedAtAnew: so is all that is due. What has not changed is not, nor is
// what we have made ourselves.
func TestATableThatHasChangedIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	looksAnew := func() bool {
		t.Helper()
		l.shape.seen = time.Now().Add(time.Hour)
		if err := l.scan.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.shape.seen = time.Time{}
		if err := l.comesNext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l.scan.Next(true) <= 0
	}
	if looksAnew() {
		t.Error("a table that has not changed is looked at anew")
	}
	s.exec("ALTER TABLE task ADD COLUMN mine int")
	if !looksAnew() || looksAnew() {
		t.Error("a change is not looked at once")
	}
}
