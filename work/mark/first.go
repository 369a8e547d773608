package mark

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/remote"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
)

// Step marks the tasks whose runners still wait for it. Those that it has no time for come next time.
// One whose row somebody has locked, or has changed, does not start: its end waits, and gives it back.
// The error is one of the connection, or of the table as a whole.
func (m *Marks) Step(ctx context.Context) error {
	if !m.Asked() {
		return nil
	}
	began, some := time.Now(), false
	err := change.Bisect(m.asks, func(asks []*ask) error {
		if some && time.Since(began) >= hold.Turn {
			return nil
		}
		marked, err := m.set(ctx, asks)
		if err != nil {
			return err
		}
		for _, a := range asks {
			a.task.Marked = marked[a.task.Row.ID]
			a.tell(run.Answer{OK: a.task.Marked})
		}
		some = true
		return nil
	}, func(a *ask, err error) error {
		some = true
		return m.refused(ctx, a, err)
	})
	m.asks = slices.DeleteFunc(m.asks, func(a *ask) bool { return a.told })
	return err
}

// refused answers that a row has not taken the mark. Where another transaction is in the way its task
// waits, without a place: each time for longer, since there may be many.
func (m *Marks) refused(ctx context.Context, a *ask, err error) error {
	if refuses(err) && !fault.Has(err, "23505") { // its repetition may have met an id that was committed meanwhile
		a.tell(run.Answer{Refused: text.NewFailure("the start of the task could not be written: "+remote.Innermost(err), "55000")})
		return nil
	}
	m.Holds.PutAfter(a.task.Row.ID, hold.Unmarked, m.Tries.Runs(a.task.Row.ID))
	a.tell(run.Answer{})
	if fault.Of(err) == fault.Locked {
		return m.Changes.TellOfLock(ctx, time.Time{}, a.task.Row.ID, a.task.Row.Key)
	}
	return nil
}

// repeats tells that a repetition may have to be written with the mark: with overlap it comes now.
func repeats(t *inflight.Task) bool { return t.Row.MarkFirst && !t.Row.Single }

// set marks tasks, and returns those whose rows show it.
func (m *Marks) set(ctx context.Context, asks []*ask) (marked map[int64]bool, err error) {
	var ids, pids, repeating []int64
	var versions []int32
	var exactly []bool
	guarded := false // one of them must be on the disk before its task starts
	for _, a := range asks {
		a.task.Marks.Store(true)
		ids, pids, versions = append(ids, a.task.Row.ID), append(pids, int64(a.PID)), append(versions, int32(a.task.Row.Version))
		exactly, guarded = append(exactly, a.Exactly), guarded || a.Guarded
		if repeats(a.task) {
			repeating = append(repeating, a.task.Row.ID)
		}
	}
	err = m.Changes.Brief(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, m.Control.Queries().Text("mark"), ids, versions, pids, m.Clock.Now(), exactly, guarded)
		if err != nil {
			return err
		}
		if marked, err = markedOf(rows); err != nil {
			return err
		}
		return m.Changes.Repeat(ctx, tx, repeating)
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
