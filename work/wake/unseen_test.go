package wake

import (
	"testing"
	"time"
)

// TestALookIsPutOff: what the stream has told of does not keep the leader from sleeping until then.
func TestALookIsPutOff(t *testing.T) {
	t.Parallel()
	w := New(Config{Notices: &Notices{}})
	now := time.Now()
	if w.Rest(now) < time.Hour || w.News(now) {
		t.Error("nothing is known, and it wakes after", w.Rest(now))
	}
	w.unseen.add([]int64{1})
	if w.Rest(now) > 0 {
		t.Error("it waits for", w.Rest(now))
	}
	w.LookLater(now.Add(time.Hour))
	if d := w.Rest(now); w.unseen.due() || d < time.Minute || d > time.Hour+askedTick {
		t.Error("put off, it waits for", d)
	}
	w.LookLater(now.Add(-askedTick))
	if !w.unseen.due() || w.Rest(now) > 0 {
		t.Error("it waits for", w.Rest(now))
	}
}
