package model

// fault is what goes wrong. Each costs one of the faults of the case, but for the thaw.
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
}

// freezes: a controller does nothing more. What it has sent stays in flight.
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
		for t, m := range k.tasks {
			if m.at == inFlight {
				w.cutsCompleter(before, c, t, to)
			}
		}
	}
	for p, b := range before.sessions {
		if b.alive && b.linked && b.owner != somebody {
			next := *before
			next.sessions[p].linked = false
			to.add(might("network", none, "cuts", none, p), next)
		}
	}
}

// cutsCompleter: the completer cannot tell whether its end was executed, and sends it again.
func (w *world) cutsCompleter(before *state, c, t int, to moves) {
	next := *before
	w.loseCompleter(&next, c)
	to.add(might("network", none, "cuts the completer's connection before the end of", t, none), next)
	next = *before
	w.end(&next, t, next.controllers[c].tasks[t], next.controllers[c].tasks[t].mark == marked && w.holds(markedAsksWork))
	w.loseCompleter(&next, c)
	to.add(might("network", none, "cuts the completer's connection after the end of", t, none), next)
}
