package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// markFirst marks tasks before they start, and returns those that are not answered yet: whose rows
// are locked now, or the rest when the connection is lost. One whose row has changed does not
// start. What meets a lock is tried alone from then on, each in its turn.
func (l *loop) markFirst(ctx context.Context, asks []ask) (open []ask, err error) {
	k, began := &l.locks.marks, time.Now()
	slices.SortStableFunc(asks, func(a, b ask) int { return a.after.Compare(b.after) })
	for len(asks) > 0 && !k.late(began) {
		n := 1
		switch {
		case asks[0].wait == 0:
			for n < len(asks) && n < k.batch(len(asks)) && asks[n].wait == 0 {
				n++
			}
		case k.rests():
			open, asks = append(open, asks[0]), asks[1:]
			continue
		}
		left, err := l.markTogether(ctx, asks[:n])
		if open, asks = append(open, left...), asks[n:]; err != nil {
			return append(open, asks...), err
		}
	}
	return append(open, asks...), nil
}

// markTogether marks tasks, some at a time where the table refuses that. It returns those that are
// not answered yet.
func (l *loop) markTogether(ctx context.Context, asks []ask) (open []ask, err error) {
	k, first, answered := &l.locks.marks, time.Now(), 0
	err = bisect(asks, func(asks []ask) error {
		if k.late(first) {
			open, answered = append(open, asks...), answered+len(asks)
			return nil
		}
		var m marks
		for _, a := range asks {
			m.add(a.task, a.pid, l.Clock.Now(), a.task.Once())
			m.guarded = m.guarded || a.task.Guarded()
		}
		began := time.Now()
		marked, err := l.setMarks(ctx, &m)
		if k.took(len(asks), began, err); err != nil {
			return err
		}
		left, err := l.markedFirst(ctx, asks, marked)
		if err == nil {
			open, answered = append(open, left...), answered+len(asks)
		}
		return err
	}, func(a ask, err error) error {
		answered++
		switch {
		case isLocked(err):
			a.later(retryMost)
			open = append(open, a)
			return l.tellOfLock(ctx, a.since, a.task.Row.ID, a.task.Row.Key)
		case hasState(err, "23505") && a.wait == 0: // its repetition may have met an id that was committed meanwhile
		case !hasState(err, "TK011") && !isQueueFull(err) && !isLack(err):
			a.answer <- unmarked(remote.Innermost(err))
			return nil
		}
		a.later(retryMost)
		open = append(open, a)
		return nil
	})
	return append(open, asks[answered:]...), err
}

// markedFirst answers those who wait for marks that were sent, and returns those whose rows are
// locked now.
func (l *loop) markedFirst(ctx context.Context, asks []ask, marked map[int64]bool) (open []ask, err error) {
	var passed []int64
	for _, a := range asks {
		if !marked[a.task.Row.ID] {
			passed = append(passed, a.task.Row.ID)
		}
	}
	standings, err := l.standings(ctx, passed, func(id int64, s standing) bool {
		return slices.ContainsFunc(asks, func(a ask) bool { return a.task.Row.ID == id && s.ours(a.task, a.pid) })
	})
	if err != nil {
		return nil, err
	}
	free, err := l.unlocked(ctx, passed)
	if err != nil {
		return nil, err
	}
	for _, a := range asks {
		switch id := a.task.Row.ID; {
		case marked[id]:
			a.task.marked = true
			a.answer <- answer{Answer: run.Answer{OK: true}}
		case standings[id].ours(a.task, a.pid) && a.isSilent(free[id]):
			a.answer <- unmarked(errKept.Error())
		case standings[id].ours(a.task, a.pid):
			a.later(retryMost)
			open = append(open, a)
		default:
			a.answer <- answer{}
		}
	}
	return open, nil
}

// unmarked answers that the row does not take the mark.
func unmarked(why string) answer {
	return answer{Answer: run.Answer{Refused: exec.NewFailure("the start of the task could not be written: "+why, "55000")}}
}

// mark has the ledger show the tasks that have been running for a while.
func (l *loop) mark(context.Context) error {
	if time.Since(l.look.marks) < checkTick { // there may be thousands of tasks
		return nil
	}
	l.look.marks = time.Now()
	var entries []*ledger.Entry
	now, moment := l.Clock.Now(), time.Now()
	for id, t := range l.tasks {
		l.Lasts(t.Task, moment)
		if t.marked || t.noMark || t.ending || t.Xact() != 0 || t.marking.after.After(moment) {
			continue
		}
		pid, start, exactly := t.Runs()
		if pid == 0 || now.Sub(start) < markAfter && l.draining.IsZero() {
			continue
		}
		t.Marks.Store(true)
		t.marking.later(retryMost) // unless it is set by then
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: id, Version: t.Row.Version, PID: pid, Start: start, Exactly: exactly,
			Tell: func(a ledger.Answer) { l.inbox.report(report{run: t, answer: a}) },
		})
	}
	if len(entries) > 0 {
		l.ledger.Put(entries...)
	}
	return nil
}

// hearMark takes down whether the row of a task that runs shows that. One that refuses it is left
// without: what its task does is not the worse for that.
func (l *loop) hearMark(t *task, a ledger.Answer) {
	switch {
	case a.Result == ledger.Taken:
		t.marked = true
	case a.Result != ledger.Passed:
	case a.Err == nil: // somebody has locked it, or changed it
		l.look.stopped = time.Now()
	case refusedByServer(a.Err) && !passing(a.Err):
		l.log.Warn().Err(a.Err).Int64("id", t.Row.ID).Msg("table refuses the mark of a task")
		t.noMark = true
	}
}

// marks are the parameters of mark.sql.
type marks struct {
	ids, pids []int64
	versions  []int32
	starts    []time.Time
	atomic    []bool
	repeating []int64 // those with which a repetition may come
	guarded   bool    // one of them must be on the disk before its task starts
}

func (m *marks) add(t *task, pid int32, start time.Time, exactly bool) {
	m.ids = append(m.ids, t.Row.ID)
	m.versions = append(m.versions, int32(t.Row.Version))
	t.Marks.Store(true)
	m.pids = append(m.pids, int64(pid))
	m.starts = append(m.starts, start)
	m.atomic = append(m.atomic, exactly)
	if t.repeats() {
		m.repeating = append(m.repeating, t.Row.ID)
	}
}

// repeats tells that a repetition may have to be written with the mark: with overlap it comes now.
func (t *task) repeats() bool { return t.Row.MarkFirst && !t.Row.Single }

func (l *loop) setMarks(ctx context.Context, m *marks) (marked map[int64]bool, err error) {
	marked = map[int64]bool{}
	if len(m.ids) == 0 {
		return marked, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	var ids []int64
	if err := l.brief(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, l.queries().Text("mark"), m.ids, m.versions, m.pids, m.starts, m.atomic, m.guarded)
		if err != nil {
			return err
		}
		if ids, err = movedOf(rows); err != nil {
			return err
		}
		return l.repeat(ctx, tx, m.repeating)
	}); err != nil {
		return marked, err
	}
	for _, id := range ids {
		marked[id] = true
	}
	return marked, nil
}

// A task that is to be marked first waits for what somebody has locked with its place in run and
// its session, but not for long, and few do at once: then others have its place.
const (
	markPatience = time.Second
	markShare    = 4 // part of run that waits like that at most
	markAway     = 5 * time.Second
)

// giveBack has tasks wait without a place whose marks have met a lock.
func (l *loop) giveBack(ctx context.Context) (err error) {
	places := max(l.live.Load().Run/markShare, 1)
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		if a.kind != askMark || a.since.IsZero() {
			return false
		}
		if places--; places >= 0 && time.Since(a.since) < markPatience {
			return false
		}
		l.parked[a.task.Row.ID] = parked{until: time.Now().Add(markAway)}
		if untold := l.tellOfLock(ctx, a.since, a.task.Row.ID, a.task.Row.Key); err == nil {
			err = untold
		}
		a.answer <- answer{}
		return true
	})
	return err
}
