package work

import (
	"testing"
	"time"

	"pgtaskd/server/servertest"
)

// TestATableThatHasChangedIsLookedAtAnew: so is all that is due. What has not changed is not, nor is
// what we have made ourselves.
func TestATableThatHasChangedIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	looksAnew := func() bool {
		t.Helper()
		l.look.full, l.look.columns = time.Now(), time.Time{}
		if err := l.comesNext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l.look.full.IsZero()
	}
	if looksAnew() {
		t.Error("a table that has not changed is looked at anew")
	}
	s.exec("ALTER TABLE task ADD COLUMN mine int")
	if !looksAnew() || looksAnew() {
		t.Error("a change is not looked at once")
	}
}

// TestATableThatIsDroppedIsNotMadeAgain: neither one that has just been seen, nor one that was served.
func TestATableThatIsDroppedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	for _, c := range []struct {
		described string
		served    bool
	}{{l.described, false}, {"", true}} {
		s.exec("DROP TABLE IF EXISTS task")
		l.described, l.trouble.served = c.described, c.served
		if _, err := l.furnish(t.Context(), s.target); err == nil || err.Error() != gone(s.target).Error() {
			t.Errorf("%+v: %v", c, err)
		}
		if s.get("SELECT to_regclass('task')") != servertest.Null {
			t.Errorf("%+v: it is made again", c)
		}
	}
}
