package work

import (
	"slices"

	"pgtaskd/work/run"
)

// forgotten tells an end that the server may have forgotten in its last crash, with what it stands
// for: the row may have another version by that number, and effects whose commit did not wait for
// the disk are lost. The task waits still, or is found cut off.
func (l *loop) forgotten(e *end) bool {
	return l.crashed != nil && e.kind == run.Finished && e.Stop.Before(*l.crashed) && (!e.task.Marks.Load() || l.control.lazy && e.task.Row.Remote == "")
}

// withoutForgotten drops such ends.
func (l *loop) withoutForgotten() {
	l.unsaid = slices.DeleteFunc(l.unsaid, func(e end) bool { return l.forget(&e) })
}

// forget drops such an end; false when it is another.
func (l *loop) forget(e *end) bool {
	if !l.forgotten(e) {
		return false
	}
	l.gone(*e)
	l.look.wanted = true
	return true
}
