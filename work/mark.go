package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/remote"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// markFirst marks tasks before they start, and returns those that it has no time for. One whose row
// somebody has locked, or has changed, does not start: its end waits, and gives it back.
func (l *loop) markFirst(ctx context.Context, asks []ask) (left []ask, err error) {
	began, answered := time.Now(), 0
	err = change.Bisect(asks, func(asks []ask) error {
		if answered > 0 && time.Since(began) >= hold.Turn {
			left, answered = append(left, asks...), answered+len(asks)
			return nil
		}
		marked, err := l.setMarks(ctx, asks)
		if err != nil {
			return err
		}
		for _, a := range asks {
			a.task.Marked = marked[a.task.Row.ID]
			a.answer <- answer{Answer: run.Answer{OK: a.task.Marked}}
		}
		answered += len(asks)
		return nil
	}, func(a ask, err error) error {
		answered++
		switch {
		case fault.Of(err) == fault.Locked:
			a.answer <- l.away(a)
			return l.changes.TellOfLock(ctx, time.Time{}, a.task.Row.ID, a.task.Row.Key)
		case fault.Of(err).Passing(), fault.Has(err, "23505"): // its repetition may have met an id that was committed meanwhile
			a.answer <- l.away(a)
		default:
			a.answer <- unmarked(remote.Innermost(err))
		}
		return nil
	})
	return append(left, asks[answered:]...), err
}

// away has a task wait that cannot be marked now, without a place: each time for longer, since there
// may be many.
func (l *loop) away(a ask) answer {
	l.holds.PutAfter(a.task.Row.ID, hold.Unmarked, l.tries.Runs(a.task.Row.ID))
	return answer{}
}

// unmarked answers that the row does not take the mark.
func unmarked(why string) answer {
	return answer{Answer: run.Answer{Refused: text.NewFailure("the start of the task could not be written: "+why, "55000")}}
}

// mark has the ledger show the tasks that have been running for a while.
func (l *loop) mark(context.Context) error {
	if time.Since(l.marked) < checkTick { // there may be thousands of tasks
		return nil
	}
	l.marked = time.Now()
	var entries []*ledger.Entry
	now, moment := l.runs.Clock.Now(), time.Now()
	for id, t := range l.tasks {
		l.runs.Profiles.Lasts(t.Task, moment)
		if t.Marked || t.NoMark || t.Ending || t.Xact() != 0 || t.Marking.After.After(moment) {
			continue
		}
		pid, start, exactly := t.Runs()
		if pid == 0 || now.Sub(start) < markAfter && !l.drain.on() {
			continue
		}
		t.Marks.Store(true)
		t.Marking.Later(hold.Locked) // unless it is set by then
		entries = append(entries, &ledger.Entry{
			Kind: ledger.Mark, ID: id, Version: t.Row.Version, PID: pid, Start: start, Exactly: exactly,
			Tell: func(a ledger.Answer) { l.inbox.Later(func() { l.hearMark(t, a) }) },
		})
	}
	if len(entries) > 0 {
		l.ledger.Put(entries...)
	}
	return nil
}

// hearMark takes down whether the row of a task that runs shows that. One that refuses it is left
// without: what its task does is not the worse for that.
func (l *loop) hearMark(t *inflight.Task, a ledger.Answer) {
	switch {
	case a.Result == ledger.Taken:
		t.Marked = true
	case a.Result != ledger.Passed:
	case a.Err == nil: // somebody has locked it, or changed it
		l.watch.Doubt()
	case fault.Of(a.Err).OfRow() && !fault.Of(a.Err).Passing():
		l.log.Warn().Err(a.Err).Int64("id", t.Row.ID).Msg("table refuses the mark of a task")
		t.NoMark = true
	}
}

// repeats tells that a repetition may have to be written with the mark: with overlap it comes now.
func repeats(t *inflight.Task) bool { return t.Row.MarkFirst && !t.Row.Single }

// setMarks returns the tasks whose rows show the mark.
func (l *loop) setMarks(ctx context.Context, asks []ask) (marked map[int64]bool, err error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	var ids, pids, repeating []int64
	var versions []int32
	var exactly []bool
	guarded := false // one of them must be on the disk before its task starts
	for _, a := range asks {
		a.task.Marks.Store(true)
		ids, pids, versions = append(ids, a.task.Row.ID), append(pids, int64(a.pid)), append(versions, int32(a.task.Row.Version))
		exactly, guarded = append(exactly, a.mark.Exactly), guarded || a.mark.Guarded
		if repeats(a.task) {
			repeating = append(repeating, a.task.Row.ID)
		}
	}
	err = l.changes.Brief(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, l.queries().Text("mark"), ids, versions, pids, l.runs.Clock.Now(), exactly, guarded)
		if err != nil {
			return err
		}
		if marked, err = markedOf(rows); err != nil {
			return err
		}
		return l.changes.Repeat(ctx, tx, repeating)
	})
	return marked, err
}

// markedOf are the rows that show the mark; an error where a trigger has kept one as it was, or has
// left it out.
func markedOf(rows pgx.Rows) (ids map[int64]bool, err error) {
	ids = map[int64]bool{}
	there := 0
	var id int64
	var moved *bool
	_, err = pgx.ForEachRow(rows, []any{&id, &moved}, func() error {
		switch {
		case moved == nil:
			there++
		case *moved:
			ids[id] = true
		}
		return nil
	})
	if err == nil && there > len(ids) {
		return nil, fault.ErrKept // it is rolled back: the row is as it was read
	}
	return ids, err
}
