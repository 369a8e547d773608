package model

// session: its backend executes the messages in flight, in the order in which they were sent.
func (w *world) session(s *state, p int, to moves) {
	b := &s.sessions[p]
	if !b.alive || b.owner == somebody {
		return
	}
	t := int(b.run.task)
	switch b.run.phase {
	case sent:
		to.add(will("server", none, "begins", t, p), w.begins(*s, p))
	case running:
		if !w.hasXact(t) {
			to.add(will("server", none, "commits", t, p), s.answers(p))
		}
	case committing:
		to.add(will("server", none, "executes COMMIT of", t, p), w.commits(*s, p))
	}
	switch {
	case b.dying:
		to.add(will("server", none, "has terminated", none, p), s.dies(p))
	case b.far && w.lost(s, p):
		to.add(will("remote", none, "ends, by its idle limit,", none, p), s.dies(p))
	case !b.linked:
		to.add(might("server", none, "notices the lost client of", none, p), s.dies(p))
	}
}

// lost: the session waits for a client that is gone.
func (w *world) lost(s *state, p int) bool {
	b := &s.sessions[p]
	silent := !b.linked || s.controllers[b.owner].frozen
	return silent && (b.run.phase == idle || b.run.phase == running && w.hasXact(int(b.run.task)))
}

func (w *world) begins(s state, p int) state {
	b := &s.sessions[p]
	r := &b.run
	r.phase = running
	t := int(r.task)
	if w.hasXact(t) {
		r.xact = s.xids(b.far).give()
	}
	if w.tasks[t].kind == once && !r.shown && s.row(t).version != r.version {
		s.broken = changedRow
	}
	return s
}

func (w *world) commits(s state, p int) state {
	b := &s.sessions[p]
	r := b.run
	t := int(r.task)
	effects := s.effects(b.far)
	if effects.of(t, r.request) > 0 {
		s.broken = effectsOnce
		return s
	}
	effects.add(t, r.request)
	s.xids(b.far).commit(r.xact)
	if b.far && w.holds(remoteSync) && !w.may(failover) {
		s.farDisk = s.far
	}
	if s.row(t).state == gone && !r.prepared {
		s.broken = changedRow
	}
	awaited := !b.far || int(s.lock) == int(b.owner)+1
	if r.request == 0 && s.row(t).request == 0 && awaited && w.hasFollower(&s, t) {
		s.broken = afterSees
	}
	return s.answers(p)
}

// hasFollower: a task that follows this one runs, or has run.
func (w *world) hasFollower(s *state, t int) bool {
	for u := range w.tasks {
		if w.tasks[u].after != t+1 {
			continue
		}
		if s.table.effects[u] > 0 {
			return true
		}
		for _, b := range s.sessions {
			if b.alive && int(b.run.task) == u && b.run.open() {
				return true
			}
		}
	}
	return false
}

// answers: COMMIT is executed. The client learns of it, unless it has lost the connection.
func (s state) answers(p int) state {
	if m := s.known(p); m != nil {
		m.at = outcome
	}
	s.goesOn(p)
	return s
}

// refuses: COMMIT is refused, and the client learns of it.
func (s state) refuses(p int) state {
	if m := s.known(p); m != nil {
		m.at, m.refused = outcome, true
	}
	s.goesOn(p)
	return s
}

// known is the client's memory of the session's run, or nil if the client does not learn its end.
func (s *state) known(p int) *memory {
	b := &s.sessions[p]
	if m := &s.controllers[b.owner].tasks[b.run.task]; b.linked && m.runs(s, p) {
		return m
	}
	return nil
}

// goesOn: the run that was sent after the current one is next.
func (s *state) goesOn(p int) {
	b := &s.sessions[p]
	b.run, b.queued = b.queued, run{}
}

func (s *state) dies(p int) state {
	next := *s
	next.sessions[p] = session{}
	return next
}
