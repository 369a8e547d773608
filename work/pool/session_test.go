package pool

import (
	"testing"
	"time"
)

// TestWhatARemoteTellsIsInOrder, though the estimate of its clock has changed in between.
func TestWhatARemoteTellsIsInOrder(t *testing.T) {
	t.Parallel()
	s, now := &Session{remote: "away"}, time.Now()
	stop := s.Told(now, now)
	if start := s.Told(now.Add(-30*time.Microsecond), now); start.Before(stop) {
		t.Errorf("it starts %v before the one before has ended", stop.Sub(start))
	}
	if later := s.Told(now.Add(time.Millisecond), now); !later.Equal(now.Add(time.Millisecond)) {
		t.Error("a later moment is another: ", later)
	}
}
