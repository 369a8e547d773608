package work

import (
	"context"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/inflight"
)

// claim is what the row of a task of ours shows that nobody has changed.
type claim struct {
	id      int64
	version uint32 // as it was read
	pid     int32  // of the session that it is marked for
	xact    int64  // with which it is prepared, 0: it is not
}

func claimOf(t *inflight.Task, pid int32) claim { return claim{t.Row.ID, t.Row.Version, pid, t.Xact()} }

// standing is what a row shows now.
type standing struct {
	state    string // "": there is no such row
	ours     bool   // it still shows what we have made of it
	stopping bool   // set to STOP while it was under way, and without an end
	recalls  bool   // it is prepared, and remembers a STOP
}

// underWay tells whether the row's task may run, on whatever session.
func (s standing) underWay() bool { return s.state == "TAKE" || s.state == "WORK" || s.stopping }

// standings are what the rows show. Of several with one id, as a partitioned table may have, it is what
// the one shows that is ours, else one whose task may run.
func (l *loop) standings(ctx context.Context, claims []claim) (map[int64]standing, error) {
	all := make(map[int64]standing, len(claims))
	if len(claims) == 0 {
		return all, nil
	}
	var ids, pids, versions, xacts []int64
	for _, c := range claims {
		ids, pids = append(ids, c.id), append(pids, int64(c.pid))
		versions, xacts = append(versions, int64(int32(c.version))), append(xacts, c.xact)
	}
	var id int64
	var s standing
	err := l.control.Each(ctx, "check", []any{ids, versions, pids, xacts}, []any{&id, &s.state, &s.ours, &s.stopping, &s.recalls}, func() error {
		if other := all[id]; s.ours || !other.ours && (s.underWay() || !other.underWay()) {
			all[id] = s
		}
		return nil
	})
	return all, err
}

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
	l.successors.doubt()
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
	var claims []claim
	for _, t := range l.tasks {
		if !t.Ending {
			pid, _, _ := t.Runs()
			claims = append(claims, claimOf(t, pid))
		}
	}
	standings, err := l.standings(ctx, claims)
	if err != nil {
		return err
	}
	for _, c := range claims {
		t, s := l.tasks[c.id], standings[c.id]
		switch {
		case s.ours && s.recalls: // its SQL runs still, or it is too late
			t.Cancel(exec.Stopped)
		case s.ours, s.state == "WORK" && t.Marks.Load():
		case t.Xact() != c.xact: // it was prepared meanwhile, and is looked at once more
			l.look.stopped = time.Now()
		case l.Lanes.Drop(t.Task):
			delete(l.tasks, c.id)
			l.look.wanted = true
		default:
			t.Cancel(exec.Stopped)
		}
	}
	return nil
}
