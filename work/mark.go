package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec"
	"pgtaskd/remote"
	"pgtaskd/work/run"
)

// markFirst marks tasks before they start, and returns those that are not answered yet: whose rows
// are locked now, or the rest when the connection is lost. One whose row has changed does not
// start. What meets a lock is tried alone from then on, each in its turn. What repeats itself is
// marked apart: what follows on it may meet locks that no mark does.
func (l *loop) markFirst(ctx context.Context, asks []ask) (open []ask, err error) {
	var plain, repeating, alone []ask
	for _, a := range asks {
		if b := l.locks.marks.barred[a.task.Row.ID]; b.pause > 0 && a.since.IsZero() { // it was given back
			a.barred, a.since, a.after = true, time.Now(), b.after
		}
		switch {
		case a.barred:
			alone = append(alone, a)
		case a.task.repeats():
			repeating = append(repeating, a)
		default:
			plain = append(plain, a)
		}
	}
	slices.SortStableFunc(alone, byTurn)
	open, err = l.markTogether(ctx, plain)
	if err != nil {
		return slices.Concat(open, repeating, alone), err
	}
	locked, err := l.markTogether(ctx, repeating)
	open = append(open, locked...)
	for i, a := range alone {
		if err != nil || l.locks.marks.rest() > 0 {
			return append(open, alone[i:]...), err
		}
		var left []ask
		left, err = l.markTogether(ctx, []ask{a})
		open = append(open, left...)
	}
	return open, err
}

func (l *loop) markTogether(ctx context.Context, asks []ask) (open []ask, err error) {
	if len(asks) == 0 {
		return nil, nil
	}
	var marked map[int64]bool
	barred := false
	answered := 0
	err = bisect(ctx, l, asks, func(ctx context.Context, asks []ask) (err error) {
		var m marks
		for _, a := range asks {
			m.add(a.task, a.pid, l.Clock.Now(), a.task.Once())
			m.guarded = m.guarded || a.task.Guarded()
			m.again = a.barred
		}
		began := time.Now()
		marked, err = l.setMarks(ctx, &m)
		if barred = isLocked(err); barred {
			l.locks.marks.met(len(asks), time.Since(began))
			return nil
		}
		return err
	}, func(asks []ask) error {
		if barred {
			answered += len(asks)
			for _, a := range asks {
				a.barred, a.tried = true, len(asks) == 1
				a.later()
				open = append(open, a)
			}
			if len(asks) == 1 {
				return l.tellOfLock(ctx, open[len(open)-1].since, asks[0].task.Row.ID, asks[0].task.Row.Key)
			}
			return nil
		}
		left, err := l.markedFirst(ctx, asks, marked)
		if err != nil {
			return err
		}
		open, answered = append(open, left...), answered+len(asks)
		return nil
	}, func(a ask, err error) error {
		answered++
		switch {
		case isQueueFull(err):
			l.queueFull(err.Error())
		case isPartless(err) && l.mayWait(err): // without its place
			l.lacking(err)
			l.parked[a.task.Row.ID] = parked{until: time.Now().Add(exhaustedMost)}
			a.answer <- answer{}
			return nil
		case isLack(err) && !isPartless(err):
			l.lacking(err)
		case !hasState(err, "TK011") && !a.redraws(err):
			a.answer <- unmarked(remote.Innermost(err))
			return nil
		}
		a.later()
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
			l.unbar(id)
			a.answer <- answer{Answer: run.Answer{OK: true}}
		case standings[id].ours(a.task, a.pid) && free[id] && a.silences+1 >= silences:
			a.answer <- unmarked(errKept.Error())
		case standings[id].ours(a.task, a.pid):
			if a.silences++; !free[id] {
				a.silences = 0
			}
			a.later()
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

// mark shows the tasks that have been running for a while.
func (l *loop) mark(ctx context.Context) error {
	if time.Since(l.look.marks) < checkTick { // there may be thousands of tasks
		return nil
	}
	l.look.marks = time.Now()
	var long []int64
	now, moment := l.Clock.Now(), time.Now()
	for id, t := range l.tasks {
		l.Lasts(t.Task, moment)
		if t.marked || t.noMark || t.ending || t.Xact() != 0 || t.marking.after.After(moment) {
			continue
		}
		if pid, start, _ := t.Runs(); pid != 0 && (now.Sub(start) >= markAfter || !l.draining.IsZero()) {
			long = append(long, id)
		}
	}
	if len(long) == 0 {
		return nil
	}
	// A row that refuses the mark is left without it: what its task does is not the worse for that.
	for len(long) > 0 && l.locks.marks.rest() <= 0 {
		some := long[:l.locks.marks.most(min(len(long), batchMost))]
		long = long[len(some):]
		if err := l.markSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// markSome marks tasks that run. A row that refuses the mark is left without it.
func (l *loop) markSome(ctx context.Context, ids []int64) error {
	var passed []int64 // somebody has locked them, or changed them
	return bisect(ctx, l, ids, func(ctx context.Context, ids []int64) error {
		var m marks
		for _, id := range ids {
			t := l.tasks[id]
			if pid, start, exactly := t.Runs(); pid != 0 {
				m.add(t, pid, start, exactly)
			}
		}
		began := time.Now()
		marked, err := l.setMarks(ctx, &m)
		if passed = nil; isLocked(err) {
			l.locks.marks.met(len(ids), time.Since(began))
			for _, id := range m.ids {
				l.tasks[id].marking.later()
			}
			return nil
		}
		l.locks.marks.missed()
		for _, id := range m.ids {
			if l.tasks[id].marked = marked[id]; !marked[id] {
				l.tasks[id].marking.later()
				passed = append(passed, id)
			}
		}
		return err
	}, func([]int64) error {
		return l.cancelChanged(ctx, passed)
	}, func(id int64, err error) error {
		if isQueueFull(err) {
			l.queueFull(err.Error())
			l.tasks[id].marking.later()
			return nil
		}
		l.log.Warn().Err(err).Int64("id", id).Msg("table refuses the mark of a task")
		l.tasks[id].noMark = true
		return nil
	})
}

// marks are the parameters of mark.sql.
type marks struct {
	ids, pids []int64
	versions  []int32
	starts    []time.Time
	atomic    []bool
	repeating []int64 // those with which a repetition may come
	guarded   bool    // one of them must be on the disk before its task starts
	again     bool    // they are one, which has met a lock before
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
	if err := l.briefOr(ctx, m.again, func(tx pgx.Tx) error {
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
	l.look.spoke = time.Now()
	return marked, nil
}
