package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec"
)

// standing is what a row shows now.
type standing struct {
	state    string // "": there is no such row
	pid      int32
	stopping bool   // set to STOP while it was under way, and without an end
	version  uint32 // of the row: another one when anybody has changed it
	xact     int64  // with which it is prepared, 0: it is not,
	recalls  bool   // and it remembers a STOP
}

// ours tells whether the row still shows what we have made of it; pid is the session's.
func (s standing) ours(t *task, pid int32) bool {
	switch {
	case s.state == "PLAN":
		return s.version == t.Row.Version
	case s.xact != 0:
		return s.state == "WORK" && s.xact == t.Xact()
	}
	return s.state == "WORK" && s.pid == pid
}

// underWay tells whether the row's task may run, on whatever session.
func (s standing) underWay() bool { return s.state == "TAKE" || s.state == "WORK" || s.stopping }

// outweighs tells whether a row is rather the one that is meant than another with the same id, as a
// partitioned table may have: one that is ours, else one whose task may run.
func (s standing) outweighs(other standing, ours func(standing) bool) bool {
	if mine := ours(s); mine || ours(other) {
		return mine
	}
	return s.underWay() && !other.underWay()
}

// standings are what the rows show. Of several with one id it is what the one shows that is ours.
func (l *loop) standings(ctx context.Context, ids []int64, ours func(id int64, s standing) bool) (map[int64]standing, error) {
	all := make(map[int64]standing, len(ids))
	if len(ids) == 0 {
		return all, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(ctx, l.queries().Text("check"), ids)
	if err != nil {
		return nil, err
	}
	var id int64
	var s standing
	_, err = pgx.ForEachRow(rows, []any{&id, &s.state, &s.pid, &s.stopping, &s.version, &s.xact, &s.recalls}, func() error {
		if other, several := all[id]; !several || s.outweighs(other, func(s standing) bool { return ours(id, s) }) {
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

// check cancels tasks that somebody has stopped, or whose rows have been deleted.
func (l *loop) check(ctx context.Context) error {
	if len(l.tasks) == 0 || l.checkDelay() > 0 {
		return nil
	}
	l.look.check, l.look.stopped = time.Now(), time.Time{}
	ids := make([]int64, 0, len(l.tasks))
	for id, t := range l.tasks {
		if !t.ending {
			ids = append(ids, id)
		}
	}
	return l.cancelChanged(ctx, ids)
}

// cancelChanged cancels those of the tasks whose rows do not say any more that they are to run.
func (l *loop) cancelChanged(ctx context.Context, ids []int64) error {
	standings, err := l.standings(ctx, ids, func(id int64, s standing) bool {
		pid, _, _ := l.tasks[id].Runs()
		return s.ours(l.tasks[id], pid)
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		t, s := l.tasks[id], standings[id]
		switch pid, _, _ := t.Runs(); {
		case s.ours(t, pid) && s.recalls: // its SQL runs still, or it is too late
			t.Cancel(exec.Stopped)
		case s.ours(t, pid), s.state == "WORK" && t.Marks.Load():
		case l.Lanes.Drop(t.Task):
			delete(l.tasks, id)
			l.look.wanted = true
		default:
			t.Cancel(exec.Stopped)
		}
	}
	return nil
}

// ofEnds tells the rows that are still as ends of ours have them.
func ofEnds(ends []end) func(id int64, s standing) bool {
	return func(id int64, s standing) bool {
		return slices.ContainsFunc(ends, func(e end) bool { return e.task.Row.ID == id && s.ours(e.task, e.PID) })
	}
}
