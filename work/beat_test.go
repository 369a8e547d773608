package work

import (
	"testing"
	"time"
)

// TestBeatsFallTogether: targets that have last spoken at different moments of a second speak next at the same one, and none of them too late.
func TestBeatsFallTogether(t *testing.T) {
	t.Parallel()
	second := time.Since(birth).Truncate(beatGrid)
	for _, within := range []time.Duration{0, time.Millisecond, 400 * time.Millisecond, beatGrid - 1} {
		l := &loop{}
		l.look.spoke = birth.Add(second + within)
		if next := l.speaks(); next != birth.Add(second+beat) {
			t.Errorf("%v after the second: %v after that", within, next.Sub(l.look.spoke))
		}
	}
	if silent := (&loop{}).silence(); silent > 0 {
		t.Errorf("one that has never spoken is silent for %v", silent)
	}
}

// TestBoredom: a leader that finds nothing due looks less and less often, and falling asleep in between does not make it look as often as at first.
func TestBoredom(t *testing.T) {
	t.Parallel()
	now := time.Now()
	v := vigil{found: now.Add(time.Hour)} // so that it has not passed meanwhile
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
