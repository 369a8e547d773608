package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// delete removes tasks that have nothing to show, those that ask for it.
func (l *loop) delete(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return l.changes.Each(ctx, ids, func(ctx context.Context, ids []int64) error {
		locked, err := l.control.IDs(ctx, "delete", ids)
		l.empty = append(l.empty, locked...)
		if len(ids) == 1 && fault.Of(err).OfRow() && !fault.Of(err).Passing() {
			l.stays(err, ids[0])
			return nil
		}
		return err
	})
}

// stays logs that a row can't be deleted, such as one that a foreign key of the user's refers to:
// from time to time for all that the same keeps. Its task has ended.
func (l *loop) stays(why error, id int64) {
	what := why.Error()
	if answer := new(pgconn.PgError); errors.As(why, &answer) {
		what = answer.Code + " " + answer.TableName + " " + answer.ConstraintName + " " + answer.Routine
	}
	l.log.Hourly(l.log.Warn(), what).Err(why).Int64("id", id).Msg("a task that has ended can't be deleted: its row stays, as do others that meet this")
}

// sweep deletes, once a second, what was locked when it should have been.
func (l *loop) sweep(ctx context.Context) error {
	l.look.swept = time.Now()
	ids := l.empty
	l.empty = nil
	for len(ids) > 0 {
		n := min(len(ids), hold.Batch)
		if err := l.delete(ctx, ids[:n]); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// finish writes the ends of tasks whose transactions are over.
func (l *loop) finish(ctx context.Context, ends []end) error {
	c := newColumns(ends)
	return l.writeEnds(ctx, ends, "finish", c.ids, c.versions, c.pids, c.done, c.starts, c.stops, c.outputs, c.errors,
		c.sqlstates, c.notices, c.exactly, c.last, c.keeps, c.xacts, c.pauses, c.cancelled)
}

// writeEnds has a statement write ends, in a transaction with what follows on them. One that has been
// passed over before is locked first: where nobody else has its row, a trigger of the user's leaves it out.
func (l *loop) writeEnds(ctx context.Context, ends []end, query string, args ...any) error {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	first, free := ends[0].backoff.Wait == 0, false
	var some []change.Changed
	err := l.changes.Brief(ctx, func(tx pgx.Tx) (err error) {
		if !first {
			err = tx.QueryRow(ctx, l.queries().Text("unlocked"), ends[0].task.Row.ID).Scan(&free)
		}
		if err == nil {
			some, err = l.changes.WithWhatFollows(ctx, tx, first, l.queries().Text(query), args...)
		}
		return err
	})
	if err != nil {
		return err
	}
	written := map[int64]change.Changed{}
	for _, c := range some {
		written[c.ID] = c
		l.look.wanted = l.look.wanted || c.State == "PLAN"
	}
	return l.settle(ctx, ends, written, free)
}

// settle forgets the tasks whose ends are written, and looks what is the matter with the others:
// some are locked, and are written later; some have been stopped; the rest are no longer ours. free
// tells that the row was locked for this: nobody was in the way.
func (l *loop) settle(ctx context.Context, ends []end, written map[int64]change.Changed, free bool) error {
	var open []inflight.Claim
	var empty []int64
	for _, e := range ends {
		c, is := written[e.task.Row.ID]
		if !is {
			open = append(open, inflight.ClaimOf(e.task, e.PID))
			continue
		}
		if e.Kind != run.Released {
			l.tries.Forget(c.ID)
		}
		if c.Empty && e.lessened == 0 {
			empty = append(empty, c.ID)
		}
		if c.State == "GONE" {
			l.counted([]change.Changed{c})
			l.stats.Skips(target.Superseded, 1)
		} else {
			l.ended(e, c.State)
		}
		l.gone(e)
	}
	standings, err := inflight.Standings(ctx, l.control, open)
	if err != nil {
		return err
	}
	for _, e := range ends {
		if _, is := written[e.task.Row.ID]; is {
			continue
		}
		switch s := standings[e.task.Row.ID]; {
		case s.Ours && free:
			if !e.lessen(nil) {
				l.leaveAlone(e, fault.ErrKept)
				continue
			}
			l.lesser(&e, fault.ErrKept)
			l.keep(e)
		case s.Ours:
			e.backoff.Later(hold.Locked)
			l.keep(e)
			if err := l.changes.TellOfLock(ctx, e.backoff.Since, e.task.Row.ID, e.task.Row.Key); err != nil {
				return err
			}
		case s.Stopping && e.Kind != run.Stopped:
			e.Kind = run.Stopped
			l.keep(e)
		default:
			if s.State == "DONE" && e.Result != nil && e.Result.Output == nil { // we have written that, and not heard of it
				l.empty = append(l.empty, e.task.Row.ID)
			}
			if s.State == "PLAN" { // somebody changes it, and may again: the next run is marked before it starts
				l.tries.Again(e.task.Row.ID)
			}
			l.gone(e)
			l.look.wanted = true // it may wait again, or another row in its place
		}
	}
	return l.delete(ctx, empty)
}

// columns are the ends as the queries take them.
type columns struct {
	ids, pids                             []int64
	versions                              []int32
	done, exactly, last, keeps, cancelled []bool
	starts, stops                         []*time.Time
	outputs, errors, sqlstates, notices   []*string
	xacts                                 []*int64
	pauses                                []pgtype.Interval
}

func newColumns(ends []end) *columns {
	c := &columns{}
	for i := range ends {
		e := &ends[i]
		c.ids, c.versions = append(c.ids, e.task.Row.ID), append(c.versions, int32(e.readVersion()))
		c.pids, c.exactly = append(c.pids, int64(e.PID)), append(c.exactly, e.Exactly)
		start := e.begun()
		c.starts, c.stops = append(c.starts, &start), append(c.stops, &e.Stop)
		c.done, c.last = append(c.done, e.failure() == nil), append(c.last, e.noRetry())
		c.keeps, c.pauses = append(c.keeps, e.keeps()), append(c.pauses, e.pause())
		c.cancelled = append(c.cancelled, e.Kind == run.Stopped)
		output, notice := e.told()
		c.outputs, c.notices = append(c.outputs, output), append(c.notices, notice)
		text, sqlstate := e.shown(e.failure())
		c.errors, c.sqlstates = append(c.errors, text), append(c.sqlstates, sqlstate)
		var xact *int64
		if e.Xact != 0 {
			xact = &e.Xact
		}
		c.xacts = append(c.xacts, xact)
	}
	return c
}
