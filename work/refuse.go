package work

import (
	"math/rand/v2"
	"time"

	"pgtaskd/work/run"
)

// refusesAgain is how long nothing is tried with a row that has refused a change: what refuses may be
// mended by then.
const refusesAgain = time.Minute

// refuses takes note of a row that has refused a change.
func (l *loop) refuses(id int64, rest time.Duration) {
	l.parked[id] = parked{until: time.Now().Add(rest), refuses: true}
}

// isHopeless tells that a row has refused us recently.
func (l *loop) isHopeless(id int64) bool {
	p := l.parked[id]
	return p.refuses && time.Now().Before(p.until)
}

// turnsInto decides what comes of a run whose effects are rolled back, since its row was changed, or
// something was in the way: it waits to run again, if that may help.
func (l *loop) turnsInto(e *end) {
	id := e.task.Row.ID
	switch {
	case e.Fault == nil: // the row has changed, and may again: it is marked before it starts anew
		l.reruns[id] = l.reruns[id].anotherRun()
		e.Kind = run.Released
	case !e.task.Once() && !e.task.Row.Rerun:
		e.Kind = run.Finished
	case e.Fault.QueueIsFull() && (l.wake.Full() || l.reruns[id].runs == 0): // else by what the task itself notifies
		if l.wake.Full() {
			l.queueFull(e.Fault.Text)
		}
		l.reruns[id] = l.reruns[id].anotherRun()
		e.Kind, e.Delay = run.Released, min(time.Second<<min(l.reruns[id].runs, 6), time.Minute)
	case run.InTheWay(e.Fault) && l.reruns[id].crossed < crossedTries:
		e.Kind, e.conflict = run.Released, true
		l.reruns[id], e.Delay = l.reruns[id].crosses()
	default:
		e.Kind = run.Finished
	}
}

// crossedTries is how often a task that another transaction was in the way of (40001, 40P01, 55P03)
// is run again before it FAILs.
const crossedTries = 5

// again is how often a task had to be run again for reasons of our own.
type again struct {
	runs    int
	crossed int // of those, because another transaction was in the way of its end
}

// crosses counts another such run, and says how long it is to wait: others that met it wait as
// well, and not for as long.
func (a again) crosses() (again, time.Duration) {
	a.runs, a.crossed = a.runs+1, a.crossed+1
	return a, rand.N(5 * time.Millisecond << min(a.crossed, 7))
}

func (a again) anotherRun() again {
	a.runs++
	return a
}
