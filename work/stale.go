package work

import (
	"time"

	"pgtaskd/sql"
)

// What was read a while ago and has not started is read again when it may start, since its row may
// have changed. Triggers tell of most changes, where there are any.
const (
	freshFor     = 500 * time.Millisecond // it is kept
	freshForLong = 2 * time.Second        // where most changes are told
)

// fresh is how long what was read is kept.
func (l *loop) fresh() time.Duration {
	if l.control.table.TellsChanges && l.wake.Way() != sql.Poll {
		return freshForLong
	}
	return freshFor
}

// unread forgets what was read a while ago; its lanes remember that it is due. If somebody has
// changed a row that waits, it forgets all.
func (l *loop) unread() {
	if l.control.changed {
		for _, t := range l.soon {
			delete(l.tasks, t.Row.ID)
		}
		l.soon, l.look.foreseen = nil, time.Time{}
	}
	for _, t := range l.Lanes.Unread(l.fresh(), l.control.changed) {
		delete(l.tasks, t.Row.ID)
	}
	l.control.changed = false
}

// waitsAgain lets a task wait again that has not begun, and whose row says nothing else.
func (l *loop) waitsAgain(e end) {
	l.gone(e)
	l.Lanes.Enter(e.task.Task)
}
