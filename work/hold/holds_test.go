package hold

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// bound is the longest wait for a reason.
func bound(why Reason) time.Duration { return backoffs[why].most }

var reasons = []Reason{Missing, Refuses, Stuck, Unmarked, Zoneless}

// FuzzHolds: whatever the order and the reasons, each task is due again within the longest wait of
// its reasons, and Next returns the time until the first one is due.
func FuzzHolds(f *testing.F) {
	f.Add(uint64(1), uint8(200))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint8) {
		random := rand.New(rand.NewPCG(seed, 0))
		now := time.Now()
		h := NewHolds()
		h.Now = func() time.Time { return now }
		latest := map[int64]time.Time{} // when each task must be due
		for range steps {
			id, why := random.Int64N(5), reasons[random.IntN(len(reasons))]
			switch random.IntN(6) {
			case 0:
				h.Forget(id)
				delete(latest, id)
			case 1:
				h.PutAfter(id, why, random.IntN(40))
				latest[id] = now.Add(bound(why))
			case 2:
				h.Sweep()
			case 3:
				now = now.Add(time.Duration(random.Int64N(int64(time.Minute))))
			default:
				h.Put(id, why)
				if due := now.Add(bound(why)); due.After(latest[id]) {
					latest[id] = due
				}
			}
			check(t, h, now, latest)
		}
	})
}

// check compares the waits of tasks with the latest times at which they must be due.
func check(t *testing.T, h *Holds, now time.Time, latest map[int64]time.Time) {
	t.Helper()
	first, held := time.Duration(math.MaxInt64), false
	for id := range int64(5) {
		until := h.Until(id)
		if until.After(latest[id]) {
			t.Fatalf("task %d is due %v later than it must be", id, until.Sub(latest[id]))
		}
		if h.Waits(id) != until.After(now) {
			t.Fatalf("task %d waits: %v, until %v, now %v", id, h.Waits(id), until, now)
		}
		if until.After(now) {
			first, held = min(first, until.Sub(now)), true
		}
	}
	if rest, ok := h.Next(now); ok != held || ok && rest != first {
		t.Fatalf("the first one is due after %v, %v; want %v", rest, ok, first)
	}
}

// TestWaitsGrow: waits grow to the longest of their reason. After Forget they begin again.
func TestWaitsGrow(t *testing.T) {
	t.Parallel()
	now := time.Now()
	h := NewHolds()
	h.Now = func() time.Time { return now }
	var waits []time.Duration
	for range 8 {
		h.Put(1, Missing)
		waits = append(waits, h.Wait(1))
		now = now.Add(time.Second)
	}
	if waits[0] != 20*time.Millisecond || waits[1] != 40*time.Millisecond || waits[7] != time.Second {
		t.Error(waits)
	}
	h.Forget(1)
	if h.Put(1, Missing); h.Wait(1) != 20*time.Millisecond {
		t.Error(h.Wait(1))
	}
	if h.PutAfter(2, Stuck, 0); !h.IsStuck(2) || !h.Refuses(2) || !h.HasRefused(2) || h.IsStuck(1) || h.Refuses(1) {
		t.Error("reasons are taken for each other")
	}
}

func TestTries(t *testing.T) {
	t.Parallel()
	tries := NewTries()
	tries.Once(1)
	tries.Once(1)
	tries.Again(1)
	for n := range 20 {
		if wait := tries.Crosses(1); wait < 0 || wait >= 640*time.Millisecond {
			t.Errorf("%d: %v", n, wait)
		}
	}
	if tries.Runs(1) != 22 || tries.Crossed(1) != 20 || tries.Runs(2) != 0 {
		t.Error(tries.Runs(1), tries.Crossed(1))
	}
	if tries.Forget(1); tries.Runs(1) != 0 {
		t.Error("still known")
	}
}
