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

// A leader that finds nothing due looks less and less often, and falling asleep in between does not make it look as often as at first.
func TestBoredom(t *testing.T) {
	t.Parallel()
	now := time.Now()
	v := vigil{found: now}
	if d := v.tick(); d != awakeTick {
		t.Errorf("%v after something was due", d)
	}
	v.found = now.Add(-time.Minute)
	v.sleeps(now)
	v.stays(now)
	if d := v.tick(); d != boredTick {
		t.Errorf("%v after a minute", d)
	}
}
