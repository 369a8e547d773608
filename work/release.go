package work

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/exec"
)

// release gives tasks back.
func (l *loop) release(ctx context.Context, ends []end) error {
	c := newColumns(ends)
	delays := make([]*string, len(ends))
	starts, stops, causes := make([]*time.Time, len(ends)), make([]*time.Time, len(ends)), make([]string, len(ends))
	for i, e := range ends {
		c.errors[i], c.sqlstates[i] = nil, nil
		if e.Delay > 0 {
			d := fmt.Sprint(e.Delay.Microseconds(), " microseconds")
			delays[i] = &d
		}
		switch {
		case e.Result != nil && e.Result.Reason == exec.Drained:
			starts[i], stops[i], causes[i] = c.starts[i], c.stops[i], "drained"
		case e.Result != nil && e.conflict:
			starts[i], stops[i], causes[i] = c.starts[i], c.stops[i], "conflict"
		}
		if e.Delay > 0 && e.Fault != nil {
			c.errors[i], c.sqlstates[i] = e.shown(e.Fault)
		}
	}
	return l.writeEnds(ctx, ends, "release", c.ids, c.versions, c.pids, delays, c.errors, c.sqlstates, starts, stops, c.xacts, causes)
}
