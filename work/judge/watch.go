package judge

import (
	"context"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
)

const (
	watchTick = 20 * time.Millisecond  // between two looks, however many notifications come
	watchLate = 100 * time.Millisecond // a look waits for other news, at most
)

// Watch cancels tasks of ours whose rows somebody has set to STOP, changed or deleted.
type Watch struct {
	*cutter
	looked  time.Time
	doubted time.Time // since when something may have been changed, zero: nothing
}

// Doubt takes note that somebody may have changed rows.
func (w *Watch) Doubt() {
	if w.doubted.IsZero() {
		w.doubted = time.Now()
	}
}

// Next is how long the next look waits, while tasks run.
func (w *Watch) Next() time.Duration {
	if busy, _, _ := w.Lanes.Load(); busy > 0 {
		return w.rest()
	}
	return hold.Never
}

// rest is how long the next look waits. Rows that were there before a STOP decide which task follows:
// they are read first, if that does not take long.
func (w *Watch) rest() time.Duration {
	passed := time.Since(w.looked)
	d := w.Sleep() - passed
	if !w.doubted.IsZero() {
		told := time.Duration(0)
		if w.Pending() {
			told = watchLate - time.Since(w.doubted)
		}
		d = min(d, told)
	}
	return max(d, watchTick-passed)
}

// Step looks at the rows of all tasks of ours, if it is time.
func (w *Watch) Step(ctx context.Context) error {
	if len(w.Tasks) == 0 || w.rest() > 0 {
		return nil
	}
	w.looked, w.doubted = time.Now(), time.Time{}
	var claims []inflight.Claim
	for _, t := range w.Tasks {
		if !t.Ending {
			pid, _, _ := t.Runs()
			claims = append(claims, inflight.ClaimOf(t, pid))
		}
	}
	standings, err := inflight.Standings(ctx, w.Control, claims)
	if err != nil {
		return err
	}
	for _, c := range claims {
		t, s := w.Tasks[c.ID], standings[c.ID]
		switch {
		case s.Ours && s.Recalls: // its SQL runs still, or it is too late
			t.Cancel(exec.Stopped)
		case s.Ours, s.State == "WORK" && t.Marks.Load():
		case t.Xact() != c.Xact: // it was prepared meanwhile, and is looked at once more
			w.Doubt()
		case w.Lanes.Drop(t.Task):
			delete(w.Tasks, c.ID)
			w.Want()
		default:
			t.Cancel(exec.Stopped)
		}
	}
	return nil
}
