package read

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

const (
	prefetchText  = 8 << 10 // longest text that a read brings, in bytes: a read stays under some megabytes
	prefetchTimes = 3       // reads in one round of the loop

	prefetchNoText = -1 // in place of prefetchText: bring no texts
)

// Prefetch reads the rows of tasks that may start soon.
type Prefetch struct {
	change.Rows
	Target  target.Target
	Runs    *run.Dispatcher
	Groups  *Groups
	Scan    *Scan
	Notices *wake.Notices

	Clogged   func() bool                                             // no more tasks may start now
	Startable func(context.Context, []*run.Task) ([]*run.Task, error) // leaves out tasks that the judge keeps
	Epoch     func(ctx context.Context, epoch int64)                  // called with the epoch of the role's settings

	Crashed *time.Time // when the server crashed last, as far as it tells; read when a term begins
}

// Next returns 0 if there is a task to read, else hold.Never.
func (p *Prefetch) Next() time.Duration {
	if p.Runs.Lanes.Prefetchable() && !p.Clogged() {
		return 0
	}
	return hold.Never
}

// Step reads the tasks that may start now, and some that may start soon. It makes few reads,
// because ends wait to be written, but enough that sessions do not run out of tasks. It changes
// nothing in the database.
func (p *Prefetch) Step(ctx context.Context) error {
	p.unread()
	for range prefetchTimes {
		if p.Clogged() {
			return nil
		}
		ids := p.Runs.Lanes.Choose(hold.Batch)
		if err := p.chosen(ctx, ids); err != nil || len(ids) < hold.Batch {
			return err
		}
		p.Runs.Dispatch()
	}
	return nil
}

// chosen reads the chosen tasks together. If the table refuses some of them, it reads the others.
func (p *Prefetch) chosen(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	var tasks []*run.Task
	err := p.Changes.Each(ids, func(ids []int64) error {
		some, err := p.Read(ctx, ids)
		tasks = append(tasks, some...)
		return err
	})
	if err != nil {
		ids = nil
	}
	p.took(ids, tasks)
	return err
}

// took adds the tasks that were read to the leader's record and the lanes. It holds chosen tasks
// that are missing. If many are missing, it asks for a full scan.
func (p *Prefetch) took(chosen []int64, tasks []*run.Task) {
	p.Tasks.Know(tasks)
	for _, t := range tasks {
		p.Holds.Forget(t.Row.ID)
	}
	p.Runs.Lanes.Prefetched(tasks)
	missing := len(chosen) - len(tasks)
	if missing > 0 {
		p.Changes.PutOff(chosen...)
	}
	if s := p.Scan; s.looks.misses(missing, len(tasks), s.listed()) && !s.Active() {
		s.All()
	}
}

// Read reads the tasks with these ids; nil: the one task that is due, if no other is. If the server
// cannot send a text of one task, Read reads all tasks without texts. That text fails its task when
// the task starts.
func (p *Prefetch) Read(ctx context.Context, ids []int64) ([]*run.Task, error) {
	tasks, err := p.readWith(ctx, ids, prefetchText)
	if fault.Of(err) == fault.Unsendable {
		tasks, err = p.readWith(ctx, ids, prefetchNoText)
	}
	if odd := (pgx.ScanArgError{}); errors.As(err, &odd) {
		err = fault.As(fault.Row, fmt.Errorf("the row has NULL where a value is needed (%s): UPDATE its columns that are said to be NOT NULL", odd.FieldName))
	}
	if err != nil {
		return nil, err
	}
	return p.Startable(ctx, tasks)
}

func (p *Prefetch) readWith(ctx context.Context, ids []int64, text int) (tasks []*run.Task, err error) {
	regrouped, paused := false, p.Runs.Lanes.Limits.LastPause()
	batch := &pgx.Batch{}
	// READ WRITE and LOCK: a lock (for an index) or a missing right fails here, not in the tasks.
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("LOCK TABLE " + p.Target.Relation().String() + " IN ROW EXCLUSIVE MODE")
	p.Control.Queue(batch, "prefetch", ids, text, text == prefetchNoText, p.Crashed,
		pgtype.Timestamptz{Time: paused, Valid: !paused.IsZero()}, p.Groups.known.version, p.Scan.seenUpTo()).Query(func(rows pgx.Rows) (err error) {
		tasks, regrouped, err = p.readRows(rows)
		return err
	})
	batch.Queue("COMMIT")
	if err := p.Control.Send(ctx, batch); err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	p.Epoch(ctx, tasks[0].Row.Session.Epoch)
	return tasks, p.regroup(ctx, regrouped)
}

// regroup reads the limits of groups again if the tasks may be newer than the known limits.
func (p *Prefetch) regroup(ctx context.Context, changed bool) error {
	k := &p.Groups.known
	same := p.Control.Table().Group == k.table && (k.table == 0 || !changed && !k.open)
	if same || time.Since(k.failed) < groupsRetry {
		return nil
	}
	return p.Groups.Step(ctx)
}

// FreshFor is how long a task that was read is kept if it does not start. After that it is read
// again before it starts, as its row may have changed. Triggers tell of most changes, but not all.
const FreshFor = time.Second

// unread forgets tasks that were read longer ago than FreshFor. If somebody has changed a row that
// waits, it forgets all tasks that have not started. The lanes still know that they are due.
func (p *Prefetch) unread() {
	p.Tasks.Forget(p.Runs.Lanes.Unread(p.Notices.Changed))
	p.Notices.Changed = false
}

// Alone finds and reads the only due task with one statement, and puts it into its lane. This saves
// one exchange with the server, which takes longer than the work itself when both processes have
// slept. nil: no task is due alone, or the table refuses the read, which Step deals with.
func (p *Prefetch) Alone(ctx context.Context) (*run.Task, error) {
	asked := p.Scan.Clock.Now()
	tasks, err := p.Read(ctx, nil)
	var refusal *pgconn.PgError
	switch {
	case (errors.As(err, &refusal) || fault.Of(err).OfRow()) && p.Control.Opened(), err == nil && len(tasks) == 0:
		return nil, nil
	case err != nil:
		return nil, err
	}
	p.Scan.looks.low = asked
	p.took(nil, tasks)
	return tasks[0], nil
}
