package work

import (
	"testing"
	"time"
)

// Targets that have last spoken at different moments of a second speak next at the same one, and none of them too late.
func TestBeatsFallTogether(t *testing.T) {
	now := time.Now()
	first := time.Time{}
	for _, ago := range []time.Duration{0, time.Millisecond, 400 * time.Millisecond, 999 * time.Millisecond} {
		l := &loop{}
		l.look.spoke = birth.Add(now.Sub(birth).Truncate(beatGrid) + beatGrid - 1 - ago)
		next := time.Now().Add(l.silence())
		if d := next.Sub(l.look.spoke); d > beat || d < beat-beatGrid-time.Millisecond {
			t.Errorf("%v after the last", d)
		}
		if first.IsZero() {
			first = next
		}
		if d := next.Sub(first); d.Abs() > 100*time.Millisecond {
			t.Errorf("%v from another's", d)
		}
	}
	if silent := (&loop{}).silence(); silent > 0 {
		t.Errorf("one that has never spoken is silent for %v", silent)
	}
}
