package work

import (
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// turnsInto decides what comes of a run whose effects are rolled back, since its row was changed, or
// something was in the way: it waits to run again, if that may help.
func (l *loop) turnsInto(e *end) {
	id := e.task.Row.ID
	switch {
	case e.Fault == nil: // the row has changed, and may again: it is marked before it starts anew
		l.tries.Again(id)
		e.Kind = run.Released
	case !e.Exactly && !e.task.Row.Rerun:
		e.Kind = run.Finished
	case e.Fault.QueueIsFull() && (l.wake.Full() || l.tries.Runs(id) == 0): // else by what the task itself notifies
		if l.wake.Full() {
			l.changes.TellQueueFull(e.Fault.Text)
		}
		l.tries.Again(id)
		e.Kind, e.Delay = run.Released, hold.QueueFull.After(l.tries.Runs(id))
	case run.InTheWay(e.Fault) && l.tries.Crossed(id) < hold.CrossedMost:
		e.Kind, e.conflict, e.Delay = run.Released, true, l.tries.Crosses(id)
	default:
		e.Kind = run.Finished
	}
}
