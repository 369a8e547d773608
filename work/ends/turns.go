package ends

import (
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// turnsInto decides what comes of a run whose effects are rolled back, since its row was changed, or
// something was in the way: it waits to run again, if that may help.
func (s *Ends) turnsInto(e *End) {
	id := e.Task.Row.ID
	switch {
	case e.Fault == nil: // the row has changed, and may again: it is marked before it starts anew
		s.Tries.Again(id)
		e.Kind = run.Released
	case !e.Exactly && !e.Task.Row.Rerun:
		e.Kind = run.Finished
	case e.Fault.QueueIsFull() && (s.Full() || s.Tries.Runs(id) == 0): // else by what the task itself notifies
		if s.Full() {
			s.Changes.TellQueueFull(e.Fault.Text)
		}
		s.Tries.Again(id)
		e.Kind, e.Delay = run.Released, hold.QueueFull.After(s.Tries.Runs(id))
	case run.InTheWay(e.Fault) && s.Tries.Crossed(id) < hold.CrossedMost:
		e.Kind, e.crossed, e.Delay = run.Released, true, s.Tries.Crosses(id)
	default:
		e.Kind = run.Finished
	}
}
