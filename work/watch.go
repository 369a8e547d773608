package work

import (
	"context"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/inflight"
)

// checkDelay is how long it is not looked for tasks that are to be cancelled. What has been said
// before a STOP decides which task follows, so that is looked at first, where it does not take
// long.
func (l *loop) checkDelay() time.Duration {
	passed := time.Since(l.look.check)
	d := l.live.Load().Sleep - passed
	if !l.look.stopped.IsZero() {
		told := time.Duration(0)
		if l.look.wanted || l.look.later || l.scanning.active {
			told = checkLate - time.Since(l.look.stopped)
		}
		d = min(d, told)
	}
	return max(d, checkTick-passed)
}

// doubt takes note that somebody has changed rows: running tasks may have been stopped, and what
// others wait for may have been deleted.
func (l *loop) doubt(now time.Time) {
	l.successors.Doubt()
	if l.look.stopped.IsZero() {
		l.look.stopped = now
	}
}

// check cancels tasks whose rows do not say any more that they are to run: somebody has stopped them, or
// deleted their rows.
func (l *loop) check(ctx context.Context) error {
	if len(l.tasks) == 0 || l.checkDelay() > 0 {
		return nil
	}
	l.look.check, l.look.stopped = time.Now(), time.Time{}
	var claims []inflight.Claim
	for _, t := range l.tasks {
		if !t.Ending {
			pid, _, _ := t.Runs()
			claims = append(claims, inflight.ClaimOf(t, pid))
		}
	}
	standings, err := inflight.Standings(ctx, l.control, claims)
	if err != nil {
		return err
	}
	for _, c := range claims {
		t, s := l.tasks[c.ID], standings[c.ID]
		switch {
		case s.Ours && s.Recalls: // its SQL runs still, or it is too late
			t.Cancel(exec.Stopped)
		case s.Ours, s.State == "WORK" && t.Marks.Load():
		case t.Xact() != c.Xact: // it was prepared meanwhile, and is looked at once more
			l.look.stopped = time.Now()
		case l.runs.Lanes.Drop(t.Task):
			delete(l.tasks, c.ID)
			l.look.wanted = true
		default:
			t.Cancel(exec.Stopped)
		}
	}
	return nil
}
