package work

import "slices"

// forgotten tells an end that the server may have forgotten in its last crash, with what it stands for: the row may have another version by that number, and effects whose commit
// did not wait for the disk are lost. The task waits still, or is found cut off.
func (l *loop) forgotten(e *end) bool {
	return l.crashed != nil && e.kind == finished && e.stop.Before(*l.crashed) && (!e.task.marks.Load() || l.control.lazy && e.task.row.Remote == "")
}

// withoutForgotten drops those ends, and returns the others.
func (l *loop) withoutForgotten(ends []end) []end {
	return slices.DeleteFunc(ends, func(e end) bool {
		if !l.forgotten(&e) {
			return false
		}
		l.gone(e)
		l.look.wanted = true
		return true
	})
}
