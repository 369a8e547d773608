package work

import (
	"testing"
	"time"
)

// TestATableThatLooksTheSameIsNotInstalledAllTheTime: at once when it has changed, but not again
// within a second as long as it looks the same.
func TestATableThatLooksTheSameIsNotInstalledAllTheTime(t *testing.T) {
	t.Parallel()
	s := prepared(t)
	l := s.installed()
	changes := func(columns string) (anew bool) {
		t.Helper()
		l.described, l.columns = "before", columns
		if err := l.redescribe(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l.described == ""
	}
	if !changes("first") {
		t.Error("a change is not looked at")
	}
	if changes("second") || changes("third") {
		t.Error("what looks the same is looked at as if it were new")
	}
	s.exec("ALTER TABLE task ADD COLUMN mine int")
	if !changes("fourth") {
		t.Error("a change that matters is not looked at")
	}
	l.look.anew = l.look.anew.Add(-anewTick)
	if !changes("fifth") {
		t.Error("what looks the same is never looked at again")
	}
}

// TestWhatComesWhileATableIsLookedAtIsNoticed: all that is due is looked at again where the table has
// changed between that look and the next reading.
func TestWhatComesWhileATableIsLookedAtIsNoticed(t *testing.T) {
	t.Parallel()
	l := prepared(t).installed()
	for _, test := range []struct {
		columns string
		again   bool
	}{{"before", false}, {"after", true}} {
		l.columns = "before"
		if err := l.lookAnew(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.look.full, l.columns = time.Now(), test.columns
		if err := l.redescribe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again := l.look.full.IsZero(); again != test.again {
			t.Errorf("%s: looked at again: %v", test.columns, again)
		}
	}
}
