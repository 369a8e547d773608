package model

// fault lists the mishaps. Each costs one of the faults of the case, except a thaw.
func (w *world) fault(s *state, to moves) {
	for c, k := range s.controllers {
		if k.frozen {
			next := *s
			next.controllers[c].frozen, next.controllers[c].stuck = false, false
			to.add(might("controller", c, "thaws", none, none), next)
		}
	}
	if s.faults == 0 {
		return
	}
	before := *s
	before.faults--
	if w.may(crash) {
		to.add(might("server", none, "crashes", none, none), w.crashed(before))
	}
	if w.may(freeze) && !s.controllers[0].frozen && !s.controllers[1].frozen {
		w.freezes(&before, to)
	}
	if w.may(cut) {
		w.cuts(&before, to)
	}
	if w.may(kill) {
		w.kills(&before, to)
	}
	w.farFaults(&before, to)
}

// freezes: a controller does nothing any more. Its messages stay in flight.
func (w *world) freezes(before *state, to moves) {
	for c, k := range before.controllers {
		next := *before
		next.controllers[c].frozen = true
		to.add(might("controller", c, "freezes", none, none), next)
		if k.alive {
			next.controllers[c].stuck = true
			to.add(might("controller", c, "freezes, and no idle limit ends its control session", none, none), next)
		}
	}
}

// cuts: a connection breaks. The server does not notice at once.
func (w *world) cuts(before *state, to moves) {
	for c, k := range before.controllers {
		if k.controls() {
			next := *before
			next.controllers[c].linked = false
			to.add(might("network", none, "cuts the control connection of", none, none).of(c), next)
		}
		w.cutsLedger(before, c, to)
	}
	for p, b := range before.sessions {
		if b.alive && b.linked && b.owner != somebody {
			next := *before
			next.sessions[p].linked = false
			to.add(might("network", none, "cuts", none, p), next)
		}
	}
}

// cutsLedger: the ledger cannot tell whether the server has executed the messages in flight.
func (w *world) cutsLedger(before *state, c int, to moves) {
	k := &before.controllers[c]
	flying := false
	for t := range w.tasks {
		flying = flying || k.tasks[t].at == inFlight || k.wire[t].flying
	}
	if !flying {
		return
	}
	next := *before
	w.loseLedger(&next, c)
	to.add(might("network", none, "cuts the ledger, before its messages are executed, of", none, none).of(c), next)
	next = *before
	for t := range w.tasks {
		if msg := k.wire[t]; msg.flying {
			w.prepares(&next, t, msg)
		}
		if m := k.tasks[t]; m.at == inFlight {
			w.end(&next, t, m)
		}
	}
	w.loseLedger(&next, c)
	to.add(might("network", none, "cuts the ledger, before its answers arrive, of", none, none).of(c), next)
}

// kills: somebody terminates a session, or a constraint that is checked at COMMIT fails.
func (w *world) kills(before *state, to moves) {
	for p, b := range before.sessions {
		if !b.alive || b.owner == somebody {
			continue
		}
		to.add(might("somebody", none, "terminates", none, p), before.dies(p))
		if b.run.phase == committing {
			to.add(might("server", none, "refuses COMMIT of", int(b.run.task), p), before.refuses(p))
		}
	}
}
