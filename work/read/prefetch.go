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
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// How long a text may be that is read with others, in bytes: so a read stays under some megabytes.
const (
	prefetchText  = 8 << 10
	prefetchTimes = 3 // reads in a round of the loop

	prefetchNoText = -1
)

// Prefetch reads the rows of tasks that may start soon.
type Prefetch struct {
	Target  target.Target
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Tries   *hold.Tries
	Tasks   inflight.Tasks
	Lanes   *lane.Lanes[*run.Task]
	Groups  *Groups
	Scan    *Scan
	Notices *wake.Notices

	Clogged   func() bool                                             // no more may start now
	Dispatch  func()                                                  // starts what may start
	Doubt     func()                                                  // somebody has changed rows
	Startable func(context.Context, []*run.Task) ([]*run.Task, error) // without those that the judge keeps
	Epoch     func(ctx context.Context, epoch int64)                  // takes up settings of databases and roles
	Foreign   func(there bool)                                        // there are foreign servers

	Crashed *time.Time // when the server has crashed last, as far as it tells: known when a term begins
}

// Next is when there is something to read.
func (p *Prefetch) Next() time.Duration {
	if p.Lanes.Prefetchable() && !p.Clogged() {
		return 0
	}
	return hold.Never
}

// Step reads the tasks that may start, and some that soon may. Its statements are few, as ends wait to
// be written, and enough for sessions to have more to go on with than they end meanwhile. It changes
// nothing in the database.
func (p *Prefetch) Step(ctx context.Context) error {
	p.unread()
	for range prefetchTimes {
		if p.Clogged() {
			return nil
		}
		ids := p.Lanes.Choose(hold.Batch)
		if err := p.chosen(ctx, ids); err != nil || len(ids) < hold.Batch {
			return err
		}
		p.Dispatch()
	}
	return nil
}

// chosen reads the tasks that were chosen: together, or, if the table refuses that, those that it does
// not refuse.
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

// took takes note of the tasks that were read, of those that were chosen for it.
func (p *Prefetch) took(chosen []int64, tasks []*run.Task) {
	p.Tasks.Know(tasks)
	for _, t := range tasks {
		p.Holds.Forget(t.Row.ID)
	}
	p.Lanes.Prefetched(tasks)
	missing := len(chosen) - len(tasks)
	if missing > 0 {
		p.Changes.PutOff(chosen...)
	}
	if s := p.Scan; s.looks.misses(missing, len(tasks), s.listed()) && !s.place.active {
		s.All()
	}
}

// Read reads the tasks with these ids; nil: the one that is due alone. If one of them has a text that
// the server cannot send, it reads all without their texts: that text fails its task when it starts.
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
	regrouped, paused := false, p.Lanes.Limits.LastPause()
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE") // so that a lock for an index, or a right taken away, is met here, and not by tasks
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

// regroup reads the limits of groups again before tasks are started that may be newer than they are.
func (p *Prefetch) regroup(ctx context.Context, changed bool) error {
	k := &p.Groups.known
	same := p.Control.Table().Group == k.table && (k.table == 0 || !changed && !k.open)
	if same || time.Since(k.failed) < groupsRetry {
		return nil
	}
	return p.Groups.Step(ctx)
}

// FreshFor is how long a task that was read and has not started is kept. Then it is read again when it
// may start, since its row may have changed: triggers, if there are any, tell of most changes.
const FreshFor = time.Second

// unread forgets tasks that were read a while ago; their lanes remember that they are due. If somebody
// has changed a row that waits, it forgets all.
func (p *Prefetch) unread() {
	if p.Notices.Changed {
		p.Doubt()
	}
	p.Tasks.Forget(p.Lanes.Unread(p.Notices.Changed))
	p.Notices.Changed = false
}

// Alone finds and reads the task that is due alone, by one statement, and puts it into its lane; nil:
// there is none, or the table refuses it. A look and a read are two exchanges with the server, and
// between processes that have slept each takes longer than their work. A table that refuses this task
// refuses others as well, and Step sees to that.
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
