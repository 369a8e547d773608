package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/run"
)

// delete removes tasks that have nothing to show, those that ask for it.
func (l *loop) delete(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		rows, err := l.control.conn.Query(ctx, l.queries().Text("delete"), ids)
		if err != nil {
			return err
		}
		locked, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		l.empty = append(l.empty, locked...)
		if len(ids) == 1 && refusedByServer(err) && !passing(err) {
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
	if !l.trouble.tells(what, sayAgain) {
		return
	}
	l.log.Warn().Err(why).Int64("id", id).Msg("a task that has ended can't be deleted: its row stays, as do others that meet this")
}

// sweep deletes, once a second, what was locked when it should have been.
func (l *loop) sweep(ctx context.Context) error {
	if l.nextSweep() > 0 {
		return nil
	}
	l.look.swept = time.Now()
	ids := l.empty
	l.empty = nil
	for len(ids) > 0 {
		n := min(len(ids), batchMost)
		if err := l.delete(ctx, ids[:n]); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// finish writes the ends of tasks whose transactions are over, in one of its own.
func (l *loop) finish(ctx context.Context, ends []end) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends, l.encoding())
	written := map[int64]string{}
	var done finished
	err := l.brief(ctx, func(tx pgx.Tx) error {
		clear(written)
		if slices.Contains(c.last, false) {
			if err := l.retry(ctx, tx, ends, written); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, l.queries().Text("finish"), c.ids, c.versions, c.pids, c.done, c.starts, c.stops,
			c.outputs, c.errors, c.sqlstates, c.notices, c.exactly, c.last, c.keeps, c.xacts)
		if err != nil {
			return err
		}
		if done, err = finishedOf(rows, ends, written); err != nil {
			return err
		}
		for _, id := range done.odd {
			said, err := l.repeatOrSay(ctx, tx, id, false)
			if err != nil {
				return err
			}
			done.empty = slices.DeleteFunc(done.empty, func(one int64) bool { return said && one == id })
		}
		if err := l.repeat(ctx, tx, done.repeat); err != nil {
			return &repetitionError{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := l.settle(ctx, ends, written); err != nil {
		return err
	}
	return l.delete(ctx, done.empty)
}

// finished are tasks whose ends are written.
type finished struct {
	repeat []int64 // that are followed by something,
	odd    []int64 // which the table has refused before
	empty  []int64 // that have nothing to show
}

// finishedOf reads what finish.sql returns.
func finishedOf(rows pgx.Rows, ends []end, written map[int64]string) (done finished, err error) {
	of := map[int64]*end{}
	for i := range ends {
		of[ends[i].task.Row.ID] = &ends[i]
	}
	var id int64
	var moved, repeats, nothing bool
	_, err = pgx.ForEachRow(rows, []any{&id, &moved, &repeats, &nothing}, func() error {
		if !moved {
			return errKept
		}
		e := of[id]
		written[id] = e.state()
		switch {
		case !repeats:
		case !e.bare:
			done.repeat = append(done.repeat, id)
		case e.lessened < lessState: // else the row takes no word of ours
			done.odd = append(done.odd, id)
		}
		if nothing && e.lessened == 0 {
			done.empty = append(done.empty, id)
		}
		return nil
	})
	return done, err
}

// retry returns those of the failed tasks to PLAN that have retries left.
func (l *loop) retry(ctx context.Context, tx pgx.Tx, ends []end, written map[int64]string) error {
	var failed []end
	for _, e := range ends {
		if !e.noRetry() {
			failed = append(failed, e)
		}
	}
	c := newColumns(failed, l.encoding())
	pauses := make([]pgtype.Interval, len(failed))
	for i := range failed {
		pauses[i] = failed[i].pause()
	}
	rows, err := tx.Query(ctx, l.queries().Text("retry"), c.ids, c.versions, c.pids, c.starts, c.stops, c.outputs,
		c.errors, c.sqlstates, c.notices, c.exactly, c.keeps, pauses, c.xacts)
	if err != nil {
		return err
	}
	ids, err := movedOf(rows)
	for _, id := range ids {
		written[id] = "PLAN"
		l.look.wanted = true
	}
	return err
}

// settle forgets the tasks whose ends are written, and looks what is the matter with the others:
// some are locked, and are written later; some have been stopped; the rest are no longer ours.
// written are the states of the others, by id.
func (l *loop) settle(ctx context.Context, ends []end, written map[int64]string) error {
	var open []int64
	for _, e := range ends {
		if state := written[e.task.Row.ID]; state != "" {
			if e.Kind != run.Released {
				delete(l.reruns, e.task.Row.ID)
			}
			l.ended(e, state)
			l.gone(e)
		} else {
			open = append(open, e.task.Row.ID)
		}
	}
	standings, err := l.standings(ctx, open, ofEnds(ends))
	if err != nil {
		return err
	}
	free, err := l.unlocked(ctx, open)
	if err != nil {
		return err
	}
	for _, e := range ends {
		if written[e.task.Row.ID] != "" {
			continue
		}
		switch s := standings[e.task.Row.ID]; {
		case s.ours(e.task, e.PID):
			if e.version != s.version { // somebody changes it all the time, and is in the way
				e.still, e.version = 0, s.version
			}
			unlocked := free[e.task.Row.ID]
			if e.isSilent(unlocked) { // a trigger of the user's leaves it out
				if !e.lessen(nil) {
					l.leaveAlone(e, errKept)
					continue
				}
				l.lesser(&e, errKept)
			}
			e.later(retryMost)
			l.keep(e)
			if unlocked {
				continue
			}
			if err := l.tellOfLock(ctx, e.since, e.task.Row.ID, e.task.Row.Key); err != nil {
				return err
			}
		case s.stopping && e.Kind != run.Stopped:
			e.Kind = run.Stopped
			l.keep(e)
		default:
			if s.state == "DONE" && e.Result != nil && e.Result.Output == nil { // we have written that, and not heard of it
				l.empty = append(l.empty, e.task.Row.ID)
			}
			l.gone(e)
			l.look.wanted = true // it may wait again, or another row in its place
		}
	}
	return nil
}

// unlocked tells which of the rows nobody has locked.
func (l *loop) unlocked(ctx context.Context, ids []int64) (free map[int64]bool, err error) {
	free = map[int64]bool{}
	if len(ids) == 0 {
		return free, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(ctx, l.queries().Text("unlocked"), ids)
	if err != nil {
		return free, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range all {
		free[id] = true
	}
	return free, err
}

// columns are the ends as the queries take them.
type columns struct {
	ids, pids                           []int64
	versions                            []int32
	done, exactly, last, keeps          []bool
	starts, stops                       []*time.Time
	outputs, errors, sqlstates, notices []*string
	xacts                               []*int64
}

func newColumns(ends []end, encoding string) *columns {
	n := len(ends)
	c := &columns{
		ids: make([]int64, n), versions: make([]int32, n), pids: make([]int64, n), done: make([]bool, n),
		exactly: make([]bool, n), last: make([]bool, n), keeps: make([]bool, n),
		starts: make([]*time.Time, n), stops: make([]*time.Time, n),
		outputs: make([]*string, n), errors: make([]*string, n), sqlstates: make([]*string, n), notices: make([]*string, n),
		xacts: make([]*int64, n),
	}
	for i := range ends {
		e := &ends[i]
		c.ids[i], c.versions[i], c.pids[i] = e.task.Row.ID, int32(e.readVersion()), int64(e.PID)
		c.exactly[i] = e.exactly()
		start := e.begun()
		c.starts[i], c.stops[i] = &start, &e.Stop
		c.done[i], c.last[i], c.keeps[i] = e.failure() == nil, e.noRetry(), e.keeps()
		c.outputs[i], c.notices[i] = e.told(encoding)
		c.errors[i], c.sqlstates[i] = e.shown(e.failure(), encoding)
		if e.Xact != 0 {
			c.xacts[i] = &e.Xact
		}
	}
	return c
}
