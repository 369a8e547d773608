package run

import (
	"testing"
	"time"
)

// TestClockHeard: the clock is never before a time that the server is known to have reached, and an
// old time does not make it fast.
func TestClockHeard(t *testing.T) {
	t.Parallel()
	var c Clock
	asked := time.Now()
	c.Set(asked.Add(time.Second), asked, asked.Add(100*time.Millisecond)) // 0.9 s ahead at least, 1 s at most
	for range 1000 {
		stop := time.Now().Add(950 * time.Millisecond)
		c.heard(stop)
		if now := c.Now(); now.Before(stop) {
			t.Fatalf("%v is before %v", now, stop)
		}
	}
	if ahead := time.Duration(c.ahead.Load()); ahead > 950*time.Millisecond || ahead < 940*time.Millisecond {
		t.Error(ahead)
	}
	before := c.ahead.Load()
	c.heard(time.Now().Add(-time.Hour))
	if c.ahead.Load() != before {
		t.Error("it goes back")
	}
}
