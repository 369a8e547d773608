package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
	"pgtaskd/work/run"
)

// turn does in one statement what most rounds of the loop consist of: it writes the ends of tasks,
// and the marks that runners wait for. Whatever is odd is left to the steps that follow: failures,
// repetitions, what was put off, rows that are passed over, and all of it when one row refuses its
// change.
func (l *loop) turn(ctx context.Context) error {
	if err := l.collect(ctx); err != nil {
		return err
	}
	var ends []end
	if !l.completer.writes() {
		if ends = l.plainEnds(); l.dictate(ends) {
			ends = nil
		}
	}
	asks := l.plainMarks()
	if len(ends)+len(asks) == 0 {
		return nil
	}
	turned, empty, err := l.setTurn(ctx, ends, asks)
	switch {
	case refusedByServer(err):
		return nil
	case err != nil:
		return err
	}
	for _, a := range asks {
		if turned[a.task.Row.ID] {
			a.task.marked = true
			a.answer <- answer{Answer: run.Answer{OK: true}}
		}
	}
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool { return a.kind == askMark && turned[a.task.Row.ID] })
	for _, e := range ends {
		if turned[e.task.Row.ID] {
			delete(l.reruns, e.task.Row.ID)
			l.ended(e, "DONE")
			l.gone(e)
		}
	}
	l.unsaid = slices.DeleteFunc(l.unsaid, func(e end) bool { return e.plain() && turned[e.task.Row.ID] })
	if err := l.delete(ctx, empty); err != nil || len(ends) < turnMost || len(turned) < turnMost/2 {
		return err
	}
	return l.turn(ctx)
}

// turnMost is how many ends one statement writes: a large one, since each round looks at all ends
// that are still to be written.
const turnMost = 1000

// plainEnds are the ends that turn.sql can write, as many as one statement takes.
func (l *loop) plainEnds() (ends []end) {
	size := 0
	for i := range l.unsaid {
		if len(ends) == turnMost || size >= writeMost {
			break
		}
		if e := &l.unsaid[i]; e.plain() && l.tasks[e.task.Row.ID] == e.task {
			ends = append(ends, *e)
			size += e.size()
		}
	}
	return ends
}

// plain tells an end that is like most, and that nothing has stood in the way of.
func (e *end) plain() bool {
	return e.usual && e.kind == run.Finished && e.fault == nil && !e.bare && !e.passed && e.wait == 0 && e.barred.pause == 0
}

// isUsual tells the end of a task that ran well, said nothing beside its output and does not repeat
// itself.
func (e *end) isUsual() bool {
	return e.kind == run.Finished && e.Result != nil && e.failure() == nil && e.Result.Notice == nil &&
		e.task.Row.Single && e.size() <= run.HeavyFrom
}

// plainMarks are the marks that runners wait for, as many as one statement takes.
func (l *loop) plainMarks() (asks []ask) {
	for _, a := range l.asks {
		if a.kind == askMark && a.wait == 0 && len(asks) < batchMost && !a.task.Row.MarkFirst {
			asks = append(asks, a)
		}
	}
	return asks
}

// setTurn returns the tasks whose rows have taken their change, and those of them that have ended
// and are to be deleted.
func (l *loop) setTurn(ctx context.Context, ends []end, asks []ask) (turned map[int64]bool, empty []int64, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends, l.encoding())
	now := l.Clock.Now()
	for _, a := range asks {
		a.task.Marks.Store(true)
		c.guarded = c.guarded || a.task.Guarded()
		c.versions = append(c.versions, int32(a.task.Row.Version))
		c.ids, c.pids, c.exactly = append(c.ids, a.task.Row.ID), append(c.pids, int64(a.pid)), append(c.exactly, a.task.Once())
		c.starts, c.stops, c.outputs = append(c.starts, &now), append(c.stops, nil), append(c.outputs, nil)
	}
	if err := l.ripening(func() (err error) {
		defer l.stats.write.since(time.Now())
		turned, empty, err = queryTurn(ctx, l.control.conn, l.queries(), c)
		return err
	}); err != nil {
		return nil, nil, err
	}
	l.look.spoke = time.Now()
	return turned, empty, nil
}

func queryTurn(ctx context.Context, conn *pgx.Conn, queries sql.Queries, c *columns) (turned map[int64]bool, empty []int64, err error) {
	rows, err := conn.Query(ctx, queries.Text("turn"), c.ids, c.pids, c.starts, c.stops, c.outputs, c.exactly, c.versions, c.guarded)
	if err != nil {
		return nil, nil, err
	}
	turned = map[int64]bool{}
	var id int64
	var nothing bool
	if _, err := pgx.ForEachRow(rows, []any{&id, &nothing}, func() error {
		turned[id] = true
		if nothing {
			empty = append(empty, id)
		}
		return nil
	}); err != nil {
		return nil, nil, err // not committed, whatever has come
	}
	return turned, empty, nil
}
