package model

// completer writes the ends of what has committed by itself, on a connection of its own. The leader
// registers that connection like a session, through the control connection, before it is used for
// the end of an unmarked run.
func (w *world) completer(s *state, c int, to moves) {
	k := &s.controllers[c]
	for t := range w.tasks {
		m := k.tasks[t]
		registered := k.leads() && (k.completer || k.controls() || !w.holds(registerCompleter))
		if m.at == outcome && (registered || m.mark == marked || !k.leads() && !w.holds(dropEnds)) {
			next := *s
			next.controllers[c].tasks[t].at = inFlight
			next.controllers[c].completer = k.completer || registered
			to.add(will("completer", c, "sends the end of", t, none), next)
		}
	}
}

// completed: the server executes an end of the completer's, and its answer arrives. The end of a
// marked run asks for WORK and its session only.
func (w *world) completed(s state, c, t int) state {
	m := &s.controllers[c].tasks[t]
	w.end(&s, t, *m, m.mark == marked && w.holds(markedAsksWork))
	*m = memory{}
	w.closeUnused(&s, c)
	return s
}

// loseCompleter: its connection is gone, and what was in flight on it is not executed. The
// completer tries again, but who does not lead has only ends of marked runs to write.
func (w *world) loseCompleter(s *state, c int) {
	k := &s.controllers[c]
	k.completer = false
	for t := range k.tasks {
		m := &k.tasks[t]
		if m.at == inFlight {
			m.at = outcome
		}
		if m.at == outcome && !k.leads() && m.mark != marked && w.holds(dropEnds) {
			*m = memory{}
		}
	}
	w.closeUnused(s, c)
}
