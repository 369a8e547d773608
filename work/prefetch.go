package work

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/fault"
	"pgtaskd/work/hold"
	"pgtaskd/work/ledger"
	"pgtaskd/work/run"
)

// How long a text may be that is read with others, in bytes: so a read stays under some megabytes.
const (
	prefetchText  = 8 << 10
	prefetchTimes = 3 // reads in a round of the loop

	prefetchNoText = -1
)

// prefetch reads the tasks that may start, and some that soon may: by so few statements that the
// ends that are to be written do not wait for long, and so many that sessions have more to go on
// with than they end meanwhile. It changes nothing in the database.
func (l *loop) prefetch(ctx context.Context) error {
	l.unread()
	for range prefetchTimes {
		if l.clogged() {
			return nil
		}
		ids := l.runs.Lanes.Choose(hold.Batch)
		if err := l.prefetchChosen(ctx, ids); err != nil || len(ids) < hold.Batch {
			return err
		}
		l.runs.Dispatch()
	}
	return nil
}

// prefetchChosen reads what was chosen: together, or where the table refuses that, what it does not
// refuse.
func (l *loop) prefetchChosen(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	var tasks []*run.Task
	err := l.changes.Each(ctx, ids, func(ctx context.Context, ids []int64) error {
		some, err := l.read(ctx, ids)
		tasks = append(tasks, some...)
		return err
	})
	if err != nil {
		ids = nil
	}
	l.took(ids, tasks)
	return err
}

// took takes note of the tasks that were read, of those that were chosen for it.
func (l *loop) took(chosen []int64, tasks []*run.Task) {
	l.tasks.Know(tasks)
	for _, t := range tasks {
		l.holds.Forget(t.Row.ID)
	}
	l.runs.Lanes.Prefetched(tasks)
	missing := len(chosen) - len(tasks)
	if missing > 0 {
		l.changes.PutOff(chosen...)
	}
	l.look.missing = max(0, l.look.missing+missing-len(tasks))
	if l.look.missing >= hold.Batch && !l.scanning.active && time.Since(l.look.full) >= l.missingRest() {
		l.look.full = time.Time{} // many may have been deleted
	}
}

// missingRest is how long all that is due is not looked at again where most of what is known is not
// there.
func (l *loop) missingRest() time.Duration {
	return max(time.Second, l.rest()/(scanShare/2))
}

// read reads the tasks with these ids, or, where there are none (nil), the one that is due alone.
// Where one of them has a text that the server cannot send, all leave their texts behind: its own
// fails it when it starts.
func (l *loop) read(ctx context.Context, ids []int64) ([]*run.Task, error) {
	tasks, err := l.readWith(ctx, ids, prefetchText)
	if fault.Of(err) == fault.Unsendable {
		tasks, err = l.readWith(ctx, ids, prefetchNoText)
	}
	if odd := (pgx.ScanArgError{}); errors.As(err, &odd) {
		err = fault.As(fault.Row, fmt.Errorf("the row has NULL where a value is needed (%s): UPDATE its columns that are said to be NOT NULL", odd.FieldName))
	}
	if err != nil {
		return nil, err
	}
	return l.judge.WithoutPanicked(ctx, tasks)
}

func (l *loop) readWith(ctx context.Context, ids []int64, text int) (tasks []*run.Task, err error) {
	regrouped, paused := false, l.runs.Lanes.Limits.LastPause()
	batch := &pgx.Batch{} // a table that somebody has locked for an index, or to which the right was taken away, is met here, and not by tasks
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("LOCK TABLE " + l.target.Relation().Quoted() + " IN ROW EXCLUSIVE MODE")
	l.control.Queue(batch, "prefetch", ids, text, text == prefetchNoText, l.crashed,
		pgtype.Timestamptz{Time: paused, Valid: !paused.IsZero()}, l.grouping.version, l.seenUpTo()).Query(func(rows pgx.Rows) (err error) {
		tasks, regrouped, err = l.readRows(rows)
		return err
	})
	batch.Queue("COMMIT")
	if err := l.control.Send(ctx, batch); err != nil {
		return nil, err
	}
	if len(tasks) > 0 {
		l.planner.Zone.Follow(ctx, tasks[0].Row.Session.Epoch)
	}
	return tasks, l.regroupFor(ctx, tasks, regrouped)
}

// waitsStill tells whether a row that was read is not to start now: another one has its id, and comes
// first, or it was put off.
func (l *loop) waitsStill(r *run.Row) bool {
	return l.judge.Orphans.Has(r.ID) || l.holds.Waits(r.ID)
}

// freshFor is how long what was read is kept that has not started. Then it is read again when it may
// start, since its row may have changed: triggers tell of most changes, where there are any.
const freshFor = time.Second

// unread forgets what was read a while ago; its lanes remember that it is due. If somebody has
// changed a row that waits, it forgets all.
func (l *loop) unread() {
	if l.notices.Changed {
		l.doubt()
	}
	l.tasks.Forget(l.runs.Lanes.Unread(l.notices.Changed))
	l.notices.Changed = false
}

// clogged tells that so many ends could not be written that we must not make more of them.
func (l *loop) clogged() bool {
	most := 4 * l.live.Load().Run
	return l.ends.Heavy() || l.ends.Len() > most || l.ledger.Len() > most+ledger.Most
}
