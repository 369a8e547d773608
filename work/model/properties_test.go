package model

// property is what must always hold.
type property uint8

const (
	unbroken property = iota
	effectsOnce
	effectsWithEnd
	changedRow
	ownEnd
	laneLimit
	foreignSession
	startedOnce
	drainCuts
	everyRunEnds
)

var propertyNames = [...]string{
	unbroken:       "all holds",
	effectsOnce:    "effects commit at most once for each time that a user asks for the task",
	effectsWithEnd: "effects commit together with the end",
	changedRow:     "a row that was changed before its run shows, or stopped, never takes effect as it was",
	ownEnd:         "an end is written by the run that it ends",
	laneLimit:      "a lane never runs more tasks than its limit",
	foreignSession: "no session of anybody else is ended",
	startedOnce:    "rerun = false starts at most once for each time that a user asks for the task",
	drainCuts:      "a drain cuts nothing off, and loses no outcome",
	everyRunEnds:   "a task that waits or runs can end when nothing more goes wrong",
}

// check finds what is broken in a state, apart from what a step has broken on its way here.
func (w *world) check(s *state) property {
	if s.broken != unbroken {
		return s.broken
	}
	var runs [maxTasks]int
	for _, b := range s.sessions {
		if b.alive && (b.run.phase == running || b.run.phase == ending) {
			runs[w.tasks[b.run.task].lane]++
		}
	}
	for _, n := range runs {
		if n > 1 {
			return laneLimit
		}
	}
	return unbroken
}

// rests: no task waits or runs.
func (w *world) rests(s *state) bool {
	for t := range w.tasks {
		if s.table[t].state == plan || s.table[t].state == work {
			return false
		}
	}
	return true
}
