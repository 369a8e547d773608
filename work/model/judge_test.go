package model

// judges finds runs that were cut off, and sessions that belong to nobody.
func (w *world) judges(s *state, c int, to moves) {
	k := &s.controllers[c]
	for t := range w.tasks {
		w.cutOff(s, c, t, to)
		if k.role == leader && k.controls() {
			w.judge(s, c, t, to)
		}
	}
	for p := range s.sessions {
		if k.leads() && k.controls() {
			w.release(s, c, p, to)
			w.endLost(s, c, p, to)
		}
	}
}

// judge decides about a WORK row that this leader knows nothing about. A run without a transaction
// id has not committed if its backend is gone. On the remote it cannot commit any more: its PREPARE
// does not find the row that is given back.
func (w *world) judge(s *state, c, t int, to moves) {
	r := *s.row(t)
	if r.state != work || s.controllers[c].tasks[t].at != nothing || w.far(t) && s.down {
		return
	}
	if r.xact > 0 && w.holds(judgeAsksStatus) {
		w.judgePrepared(s, c, t, to)
		return
	}
	if w.holds(judgeGone) && w.ownerLives(s, r) && !w.far(t) {
		return
	}
	next := *s
	if w.tasks[t].kind == once {
		w.write(next.row(t), fail)
	} else {
		w.write(next.row(t), plan)
	}
	if s.outcomeKnown(t) && s.faults == w.faults {
		next.broken = drainCuts
	}
	to.add(will("judge", c, "gives back (backend gone, not prepared)", t, none), next)
}

// judgePrepared asks only for the status of the transaction.
func (w *world) judgePrepared(s *state, c, t int, to moves) {
	r := *s.row(t)
	next := *s
	switch w.verdict(s, t, r) {
	case committed:
		if s.effects(w.far(t)).of(t, r.request) == 0 {
			next.broken = doneWithout
		}
		w.write(next.row(t), done)
		to.add(will("judge", c, "writes DONE (committed)", t, none), next)
	case inProgress:
		if !w.holds(judgeWaits) {
			to.add(will("judge", c, "gives back (in progress)", t, none), w.givesBack(*s, t))
		}
	case untold:
		if w.holds(untoldFails) {
			w.write(next.row(t), unknown)
			to.add(will("judge", c, "writes FAIL (not known)", t, none), next)
		} else {
			to.add(will("judge", c, "gives back (not known)", t, none), w.givesBack(*s, t))
		}
	default:
		to.add(will("judge", c, "gives back (aborted)", t, none), w.givesBack(*s, t))
	}
	if w.far(t) && !w.holds(judgeAsksPrimary) && s.farDisk.x.committed>>r.xact&1 == 0 {
		to.add(will("judge", c, "gives back (a standby says that it has not committed)", t, none), w.givesBack(*s, t))
	}
}

// givesBack: the transaction has not committed. A STOP that came after PREPARE now applies. A task
// with rerun = false has started.
func (w *world) givesBack(s state, t int) state {
	switch r := s.row(t); {
	case r.stopping && w.holds(stopHolds):
		w.write(r, stop)
	case w.tasks[t].kind == once && w.holds(abortedOnceFails):
		w.write(r, fail)
	default:
		if r.stopping {
			s.broken = stopLost
		}
		w.write(r, plan)
	}
	return s
}

func (w *world) ownerLives(s *state, r row) bool {
	return s.lives(r.pid, r.start) || !w.holds(judgeAsksStart) && r.pid > 0 && s.sessions[r.pid-1].alive
}

// outcomeKnown: a controller has seen the outcome of the run that the WORK row shows.
func (s *state) outcomeKnown(t int) bool {
	for _, k := range s.controllers {
		if m := k.tasks[t]; m.at > atWork && m.pid == s.row(t).pid && m.start == s.row(t).start {
			return true
		}
	}
	return false
}
