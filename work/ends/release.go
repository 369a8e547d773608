package ends

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
)

// release gives tasks back.
func (s *Ends) release(ctx context.Context, ends []End) error {
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
		case e.Result != nil && e.crossed:
			starts[i], stops[i], causes[i] = c.starts[i], c.stops[i], "conflict"
		}
		if e.Delay > 0 && e.Fault != nil {
			c.errors[i], c.sqlstates[i] = e.shown(e.Fault)
		}
	}
	return s.writeEnds(ctx, ends, "release", c.ids, c.versions, c.pids, delays, c.errors, c.sqlstates, starts, stops, c.xacts, causes)
}

// stopFailure says of a task that it was stopped.
func (e *End) stopFailure() *text.Failure {
	detail := "Its state was set to STOP while it ran."
	if e.Start.IsZero() {
		detail = "Its state was set to STOP before it had started."
	}
	input := ""
	if e.Task.Row.Input != nil {
		input = *e.Task.Row.Input
	}
	return text.NewFailure("canceling statement due to user request", "57014", "DETAIL", detail, "STATEMENT", input)
}
