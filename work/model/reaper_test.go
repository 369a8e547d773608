package model

// reaper finds what was cut off, and what runs without belonging to anybody.
func (w *world) reaper(s *state, c int, to moves) {
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

// cutOff: a run whose backend is gone, and whose outcome has not been seen. Who does not lead
// leaves a run whose connection is lost to the leader.
func (w *world) cutOff(s *state, c, t int, to moves) {
	m := s.controllers[c].tasks[t]
	counts := w.holds(keepUntilGone) && (s.controllers[c].leads() || !w.holds(drainLeaves))
	lives := s.lives(m.pid, m.start) && (counts || s.sessions[m.pid-1].linked)
	if (m.at == atWork || m.at == marking) && !lives {
		next := *s
		next.controllers[c].tasks[t] = memory{}
		to.add(will("reaper", c, "finds cut off", t, none), next)
	}
}

// judge gives a WORK row back when its backend is gone, or lets it FAIL.
func (w *world) judge(s *state, c, t int, to moves) {
	r := s.table[t]
	if r.state != work || s.controllers[c].tasks[t].at != nothing || w.holds(judgeGone) && w.ownerLives(s, r) {
		return
	}
	next := *s
	n := &next.table[t]
	n.state, n.pid, n.start = plan, 0, 0
	if w.tasks[t].kind == once {
		n.state = fail
	}
	n.xmin++
	if s.outcomeKnown(t) && s.faults == w.faults {
		next.broken = drainCuts
	}
	to.add(will("reaper", c, "judges", t, none), next)
}

func (w *world) ownerLives(s *state, r row) bool {
	return s.lives(r.pid, r.start) || !w.holds(judgeAsksStart) && s.sessions[r.pid-1].alive
}

// outcomeKnown: a controller has seen the outcome of the run that the WORK row shows.
func (s *state) outcomeKnown(t int) bool {
	for _, k := range s.controllers {
		if m := k.tasks[t]; m.at > atWork && m.pid == s.table[t].pid && m.start == s.table[t].start {
			return true
		}
	}
	return false
}

// release: what a takeover has spared counts until its end is seen or its backend is gone. Where a
// user has changed the row, it is ended.
func (w *world) release(s *state, c, p int, to moves) {
	was := s.controllers[c].spared[p]
	if was.task == 0 {
		return
	}
	t := int(was.task) - 1
	r := s.table[t]
	ended := r.state == done || r.state == fail || r.state != work && !w.holds(countRuns)
	next := *s
	switch {
	case ended || !s.lives(uint8(p+1), was.start):
		next.controllers[c].spared[p] = spared{}
		to.add(will("reaper", c, "counts no longer", t, p), next)
	case !(r.state == work && s.isOwner(r, p)) && !s.sessions[p].dying:
		next.sessions[p].dying = true
		to.add(will("reaper", c, "ends, since its row was changed,", t, p), next)
	}
}

// endLost ends a session that waits for a client that is gone.
func (w *world) endLost(s *state, c, p int, to moves) {
	b := &s.sessions[p]
	if !w.registered(s, p) || b.dying || b.owner == somebody || !w.holds(endLostClient) {
		return
	}
	silent := !b.linked || s.controllers[b.owner].frozen
	waits := b.run.phase == idle || b.run.phase == running && w.tasks[b.run.task].kind == writes
	if silent && waits {
		next := *s
		next.sessions[p].dying = true
		to.add(will("reaper", c, "ends, since it has lost its client,", none, p), next)
	}
}
