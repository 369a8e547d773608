package model

// property is a promise that always holds.
type property uint8

const (
	unbroken property = iota
	effectsOnce
	effectsPlan
	effectsStop
	effectsFail
	doneWithout
	changedRow
	stopLost
	ownEnd
	endsOnce
	laneLimit
	foreignSession
	startedOnce
	drainCuts
	afterSees
	everyRunEnds
	tooManyXids
)

var propertyNames = [...]string{
	unbroken:       "all holds",
	effectsOnce:    "effects commit at most once for each time that a user asks for the task",
	effectsPlan:    "a row whose effects are committed never waits again",
	effectsStop:    "a row that shows STOP has no effects",
	effectsFail:    "a row whose effects are committed never FAILs",
	doneWithout:    "a row is DONE only if its effects are committed, after any crash",
	changedRow:     "a row that was changed, stopped or deleted before its run shows never takes effect as it was",
	stopLost:       "STOP of a prepared row holds when its run is rolled back",
	ownEnd:         "an end is written by the run that it ends",
	endsOnce:       "one end is written for each time that a user asks for the task",
	laneLimit:      "a lane never runs more tasks on the local server than its limit",
	foreignSession: "no session of anybody else is ended",
	startedOnce:    "rerun = false starts at most once for each time that a user asks for the task",
	drainCuts:      "a drain cuts nothing off, and loses no outcome",
	afterSees:      "a task starts when the effects of its predecessor can be seen, or will never be",
	everyRunEnds:   "a task that waits or runs can end when nothing more goes wrong",
	tooManyXids:    "this case needs more transaction ids than a state has room for",
}

// check returns a property that the state breaks, or that the step to it has broken.
func (w *world) check(s *state) property {
	if s.broken != unbroken {
		return s.broken
	}
	var runs [maxTasks]int
	for _, b := range s.sessions {
		if b.alive && b.run.open() && !b.far {
			runs[w.tasks[b.run.task].lane]++
		}
	}
	for _, n := range runs {
		if n > 1 {
			return laneLimit
		}
	}
	for t := range w.tasks {
		if p := w.checkRow(s, t); p != unbroken {
			return p
		}
	}
	return unbroken
}

// checkRow compares a row with the effects of its task. A failover of the remote may lose effects
// of a task that is DONE.
func (w *world) checkRow(s *state, t int) property {
	r := s.row(t)
	if r.ends > 1 {
		return endsOnce
	}
	if !w.hasXact(t) {
		return unbroken
	}
	n := s.effects(w.far(t)).of(t, r.request)
	switch {
	case r.state == plan && n > 0:
		return effectsPlan
	case r.state == stop && n > 0:
		return effectsStop
	case r.state == fail && n > 0:
		return effectsFail
	case r.state == done && n == 0 && !(w.far(t) && w.may(failover)):
		return doneWithout
	}
	return unbroken
}

// rests: no task waits or runs, except a task whose predecessor is stopped.
func (w *world) rests(s *state) bool {
	for t := range w.tasks {
		r, after := s.row(t), w.tasks[t].after
		if r.state == plan && after > 0 && s.row(after-1).state == stop {
			continue
		}
		if r.state == plan || r.state == work {
			return false
		}
	}
	return true
}
