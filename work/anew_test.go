package work

import "testing"

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
