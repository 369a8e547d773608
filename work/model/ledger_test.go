package model

// ledger sends ends on a connection of its own. The leader registers that connection through the
// control connection, like a session, before it sends a PREPARE or the END of an unmarked run on
// it.
func (w *world) ledger(s *state, c int, to moves) {
	k := &s.controllers[c]
	for t := range w.tasks {
		m := k.tasks[t]
		if m.at == outcome && (w.mayRegister(k) || m.mark == marked || m.xact > 0 || !k.leads() && !w.holds(dropEnds)) {
			next := *s
			next.controllers[c].tasks[t].at = inFlight
			next.controllers[c].ledger = k.ledger || w.mayRegister(k)
			to.add(will("leader", c, "sends END of", t, none), next)
		}
	}
}

// mayRegister: the connection of the ledger is in the register, or can be registered now.
func (w *world) mayRegister(k *controller) bool {
	return k.leads() && (k.ledger || k.controls() || !w.holds(registerLedger))
}

// completed: the server executes an END, and the answer arrives.
func (w *world) completed(s state, c, t int) state {
	m := &s.controllers[c].tasks[t]
	w.end(&s, t, *m)
	*m = memory{}
	w.closeUnused(&s, c)
	return s
}

// loseLedger: the connection of the ledger is gone, and the server does not execute messages in
// flight on it. An END is sent again. A controller that does not lead keeps only the ends of marked
// and prepared runs.
func (w *world) loseLedger(s *state, c int) {
	k := &s.controllers[c]
	k.ledger = false
	for t := range w.tasks {
		m := &k.tasks[t]
		k.wire[t] = message{}
		if m.prep == prepAsked {
			m.prep = prepLost
		}
		if m.at == inFlight {
			m.at = outcome
		}
		if m.at == outcome && !k.leads() && m.mark != marked && m.xact == 0 && w.holds(dropEnds) {
			*m = memory{}
		}
	}
	w.closeUnused(s, c)
}
