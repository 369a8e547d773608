package wake

import (
	"testing"
	"time"
)

// TestALookIsPutOff: what the stream has told of does not keep the leader from sleeping until then.
func TestALookIsPutOff(t *testing.T) {
	t.Parallel()
	w := New(Config{})
	now := time.Now()
	if w.Rest(now) < time.Hour || w.Told(now, now) {
		t.Error("nothing is known, and it wakes after", w.Rest(now))
	}
	w.unseen.add([]int64{1})
	if w.Rest(now) > 0 {
		t.Error("it waits for", w.Rest(now))
	}
	w.LookLater(now)
	if w.unseen.due(now) || !w.unseen.due(now.Add(askedTick)) || w.Rest(now) > askedTick {
		t.Error("it waits for", w.Rest(now))
	}
}
