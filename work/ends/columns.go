package ends

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/work/run"
)

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
