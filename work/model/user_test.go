package model

// user: people edit, STOP and DELETE rows, and set them to PLAN. Each change gives the row a new
// version. It does not wait for the disk.
func (w *world) user(s *state, to moves) {
	if s.users == 0 {
		return
	}
	for t := range w.tasks {
		if w.may(edit) {
			w.edits(s, t, to)
		}
	}
	if w.may(foreign) {
		w.somebody(s, to)
	}
	if w.may(stranger) {
		to.add(might("somebody", none, "commits a transaction", none, none), w.commitsOther(*s, false))
		if w.anyFar() {
			to.add(might("somebody", none, "commits a transaction on the remote", none, none), w.commitsOther(*s, true))
		}
	}
}

// edits: for a prepared row, a trigger undoes STOP and remembers it, and ignores PLAN.
func (w *world) edits(s *state, t int, to moves) {
	r := *s.row(t)
	putBack := r.state == work && r.xact > 0 && w.holds(stopPutBack)
	switch r.state {
	case plan, work:
		to.add(might("user", none, "edits", t, none), w.change(*s, t, r.state))
		to.add(might("user", none, "deletes", t, none), w.change(*s, t, gone))
		if putBack {
			next := w.change(*s, t, work)
			next.row(t).stopping = true
			to.add(might("user", none, "stops (put back, since it is prepared)", t, none), next)
		} else {
			to.add(might("user", none, "stops", t, none), w.change(*s, t, stop))
		}
	}
	if r.state >= work && !putBack {
		to.add(might("user", none, "sets to PLAN", t, none), w.ask(*s, t))
	}
}

func (w *world) change(s state, t int, to rowState) state {
	r := s.row(t)
	r.state = to
	r.xmin++
	r.version = w.users - s.users + 1
	s.users--
	return s
}

// ask: the task runs again, as if new.
func (w *world) ask(s state, t int) state {
	s = w.change(s, t, plan)
	r := s.row(t)
	r.pid, r.start, r.ends, r.request = 0, 0, 0, r.version
	if w.tasks[t].kind == once {
		s.asked[t]++
	}
	return s
}

// somebody opens a session and gets the pid of a session that is still in the register.
func (w *world) somebody(s *state, to moves) {
	for p, b := range s.sessions {
		if !b.alive && s.register[p] > 0 {
			next := *s
			next.users--
			next.sessions[p] = session{alive: true, linked: true, owner: somebody, start: s.lastStart(p) + 1}
			to.add(might("somebody", none, "opens a session with the pid of", none, p), next)
			return
		}
	}
}

// commitsOther: somebody else gets the next transaction id, and commits.
func (w *world) commitsOther(s state, far bool) state {
	s.users--
	ids := s.xids(far)
	ids.commit(ids.give())
	return s
}
