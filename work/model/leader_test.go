package model

// leader lists the steps of a controller that believes it leads. It may be wrong: it may lose the
// lock before it learns that.
func (w *world) leader(s *state, c int, to moves) {
	k := &s.controllers[c]
	for t := range w.tasks {
		mayRead := k.role == leader || k.role == awaiting && !w.holds(readAfterGone)
		if mayRead && k.controls() && s.row(t).state == plan && w.unread(s, c, t) {
			to.add(will("leader", c, "reads", t, none), read(*s, c, t))
		}
		w.giveUp(s, c, t, to)
		if k.leads() {
			w.dispatch(s, c, t, to)
		}
	}
	for p := range s.sessions {
		w.pool(s, c, p, to)
		if b := &s.sessions[p]; b.alive && b.linked && int(b.owner) == c {
			w.attend(s, c, p, to)
		}
	}
}

// unread: the leader knows nothing of the task, or the row has changed since it was read.
func (w *world) unread(s *state, c, t int) bool {
	m := s.controllers[c].tasks[t]
	return m.at == nothing || m.at == ready && m.xmin != s.row(t).xmin && w.holds(readAgain)
}

func read(s state, c, t int) state {
	r := s.row(t)
	s.controllers[c].tasks[t] = memory{at: ready, xmin: r.xmin, version: r.version, request: r.request}
	return s
}

// giveUp: a task whose predecessor has failed never starts.
func (w *world) giveUp(s *state, c, t int, to moves) {
	k := &s.controllers[c]
	waits := k.tasks[t].at == nothing || k.tasks[t].at == ready
	if k.role == leader && k.controls() && waits && s.row(t).state == plan && w.predecessor(s, t) == fail {
		next := *s
		w.write(next.row(t), fail)
		next.controllers[c].tasks[t] = memory{}
		to.add(will("leader", c, "gives up", t, none), next)
	}
}

// predecessor says whether the task may start (done), waits (plan) or never starts (fail).
func (w *world) predecessor(s *state, t int) rowState {
	if w.tasks[t].after == 0 {
		return done
	}
	switch s.row(w.tasks[t].after - 1).state {
	case gone, done:
		return done
	case fail, unknown:
		return fail
	}
	return plan
}

// pool opens sessions. It closes an idle session if the other server needs its place.
func (w *world) pool(s *state, c, p int, to moves) {
	k, b := &s.controllers[c], &s.sessions[p]
	if k.role == leader && !b.alive && (k.controls() || !w.holds(registerFirst)) {
		for _, far := range []bool{false, true} {
			if w.wantsSession(s, c, far) && !(far && s.down) {
				to.add(will("leader", c, "opens and registers", none, p), w.opens(*s, c, p, far))
			}
		}
	}
	unused := b.alive && b.linked && int(b.owner) == c && b.run.phase == idle && !w.held(s, c, p)
	if unused && k.role == leader && w.anyFar() && s.full() && w.wantsSession(s, c, !b.far) {
		to.add(will("leader", c, "closes", none, p), s.dies(p))
	}
}

// full: there is no room for another session.
func (s *state) full() bool {
	for _, b := range s.sessions {
		if !b.alive {
			return false
		}
	}
	return true
}

// wantsSession: a ready task may start, and no session on its server is free for it.
func (w *world) wantsSession(s *state, c int, far bool) bool {
	for p := range s.sessions {
		if w.free(s, c, p, far) {
			return false
		}
	}
	for t := range w.tasks {
		if w.far(t) == far && s.controllers[c].tasks[t].at == ready && !w.busy(s, c, t, none) {
			return true
		}
	}
	return false
}

// opens: the control connection commits the new session to the register, unless it is on the remote.
func (w *world) opens(s state, c, p int, far bool) state {
	start := s.lastStart(p) + 1
	s.sessions[p] = session{alive: true, linked: true, far: far, owner: uint8(c), start: start, trusted: true}
	if w.holds(registerFirst) && !far {
		s.register[p] = start
	}
	return s
}
