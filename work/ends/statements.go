package ends

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// statement writes ends of one kind: it ends tasks whose transactions are over, or gives tasks back.
func statement(ends []End) (query string, args []any) {
	c := newColumns(ends)
	if ends[0].Kind != run.Released {
		return "finish", []any{
			c.ids, c.versions, c.pids, c.done, c.starts, c.stops, c.outputs, c.errors,
			c.sqlstates, c.notices, c.exactly, c.last, c.keeps, c.xacts, c.pauses, c.cancelled,
		}
	}
	causes := make([]string, len(ends))
	for i, e := range ends {
		c.pauses[i] = pgtype.Interval{Microseconds: e.Delay.Microseconds(), Valid: e.Delay > 0}
		if c.errors[i], c.sqlstates[i] = nil, nil; e.Delay > 0 {
			c.errors[i], c.sqlstates[i] = e.shown(e.Fault)
		}
		switch {
		case e.Result != nil && e.Result.Reason == exec.Drained:
			causes[i] = "drained"
		case e.Result != nil && e.crossed:
			causes[i] = "conflict"
		default:
			c.starts[i], c.stops[i] = nil, nil
		}
	}
	return "release", []any{c.ids, c.versions, c.pids, c.pauses, c.errors, c.sqlstates, c.starts, c.stops, c.xacts, causes}
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

func newColumns(ends []End) *columns {
	c := &columns{}
	for i := range ends {
		e := &ends[i]
		c.ids, c.versions = append(c.ids, e.Task.Row.ID), append(c.versions, int32(e.readVersion()))
		c.pids, c.exactly = append(c.pids, int64(e.PID)), append(c.exactly, e.Exactly)
		start := e.begun()
		c.starts, c.stops = append(c.starts, &start), append(c.stops, &e.Stop)
		c.done, c.last = append(c.done, e.Failure() == nil), append(c.last, e.noRetry())
		c.keeps, c.pauses = append(c.keeps, e.keeps()), append(c.pauses, e.pause())
		c.cancelled = append(c.cancelled, e.Kind == run.Stopped)
		output, notice := e.told()
		c.outputs, c.notices = append(c.outputs, output), append(c.notices, notice)
		text, sqlstate := e.shown(e.Failure())
		c.errors, c.sqlstates = append(c.errors, text), append(c.sqlstates, sqlstate)
		var xact *int64
		if e.Xact != 0 {
			xact = &e.Xact
		}
		c.xacts = append(c.xacts, xact)
	}
	return c
}
