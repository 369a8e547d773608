package model

// cutOff: the backend of a run is gone, and the controller has not seen the outcome. A controller
// that does not lead leaves a run with a lost connection to the leader. Nobody waits for the end of
// a session on the remote.
func (w *world) cutOff(s *state, c, t int, to moves) {
	m := s.controllers[c].tasks[t]
	counts := w.holds(keepUntilGone) && (s.controllers[c].leads() || !w.holds(drainLeaves)) && !w.far(t)
	lives := s.lives(m.pid, m.start) && (counts || s.sessions[m.pid-1].linked)
	if (m.at == atWork || m.at == marking) && !lives {
		next := *s
		next.controllers[c].tasks[t] = memory{}
		to.add(will("judge", c, "finds cut off", t, none), next)
	}
}

// release: a spared session counts until the end of its run is seen or its backend is gone. If a
// user has changed the row, the session is ended.
func (w *world) release(s *state, c, p int, to moves) {
	was := s.controllers[c].spared[p]
	if was.task == 0 {
		return
	}
	r := *s.row(int(was.task) - 1)
	ended := r.state == done || r.state == fail || r.state != work && !w.holds(countRuns)
	t := int(was.task) - 1
	next := *s
	switch {
	case ended || !s.lives(uint8(p+1), was.start):
		next.controllers[c].spared[p] = spared{}
		to.add(will("judge", c, "counts no longer", t, p), next)
	case !(r.state == work && s.isOwner(r, p)) && !s.sessions[p].dying:
		next.sessions[p].dying = true
		to.add(will("judge", c, "ends, since its row was changed,", t, p), next)
	}
}

// endLost ends a session that waits for a client that is gone.
func (w *world) endLost(s *state, c, p int, to moves) {
	b := &s.sessions[p]
	if w.registered(s, p) && !b.dying && b.owner != somebody && w.lost(s, p) && w.holds(endLostClient) {
		next := *s
		next.sessions[p].dying = true
		to.add(will("judge", c, "ends, since it has lost its client,", none, p), next)
	}
}
