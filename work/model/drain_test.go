package model

// drains: a leader that stops marks all its runs, writes the ends of all runs that it has prepared,
// gives up the lead, and finishes its marked runs.
func (w *world) drains(s *state, c int, to moves) {
	k := &s.controllers[c]
	next := *s
	switch {
	case k.role == leader && w.may(drain) && s.users > 0:
		next.users--
		next.controllers[c].role = draining
		to.add(might("leader", c, "begins to drain", none, none), next)
	case k.role == draining && k.controls() && (w.allMarked(k) || !w.holds(drainMarks)):
		next.controllers[c].role = handing
		to.add(will("leader", c, "sends the unlock", none, none), next)
	case k.role == handing && k.controls() && int(s.lock) != c+1:
		to.add(will("leader", c, "has given the lead away", none, none), w.handOver(*s, c))
	case k.role == drained && k.hasFinished():
		next.controllers[c].role = follower
		w.closeUnused(&next, c)
		to.add(will("controller", c, "has drained", none, none), next)
	}
}

// allMarked: each run is marked, or its mark has found no row. All ends of unmarked runs are
// written.
func (w *world) allMarked(k *controller) bool {
	for _, m := range k.tasks {
		switch {
		case m.at == nothing, m.at == ready:
		case (m.prep == prepAsked || m.prep == prepTaken) && m.mark != marked:
			if w.holds(drainAwaitsPrepared) {
				return false
			}
		case m.at == atWork && m.mark == foundNone:
		case m.at != marking && m.mark == marked:
		default:
			return false
		}
	}
	return true
}

// handOver gives up the lead. If a mark has found no row, its run is cancelled.
func (w *world) handOver(s state, c int) state {
	k := &s.controllers[c]
	k.role, k.spared = drained, [maxSessions]spared{}
	for t := range k.tasks {
		if m := &k.tasks[t]; m.at == ready || m.mark == foundNone && w.holds(drainCancels) {
			*m = memory{}
		}
	}
	w.closeUnused(&s, c)
	return s
}

func (k *controller) hasFinished() bool {
	for _, m := range k.tasks {
		if m.at != nothing {
			return false
		}
	}
	return true
}
