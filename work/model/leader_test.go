package model

// leader is what a controller does that believes it leads. It may be wrong: the lock is lost
// before it learns of that.
func (w *world) leader(s *state, c int, to moves) {
	k := &s.controllers[c]
	for t := range w.tasks {
		mayRead := k.role == leader || k.role == awaiting && !w.holds(readAfterGone)
		if mayRead && k.controls() && s.table[t].state == plan && w.unread(s, c, t) {
			to.add(will("leader", c, "reads", t, none), read(*s, c, t))
		}
		if k.leads() {
			w.dispatch(s, c, t, to)
		}
	}
	for p := range s.sessions {
		if k.role == leader && !s.sessions[p].alive && w.wantsSession(s, c) && (k.controls() || !w.holds(registerFirst)) {
			to.add(will("leader", c, "opens and registers", none, p), w.open(*s, c, p))
		}
		if b := &s.sessions[p]; b.alive && b.linked && int(b.owner) == c {
			w.attend(s, c, p, to)
		}
	}
}

// unread: the leader knows nothing of the task, or what it knows is not in the table any more.
func (w *world) unread(s *state, c, t int) bool {
	m := s.controllers[c].tasks[t]
	return m.at == nothing || m.at == ready && m.xmin != s.table[t].xmin && w.holds(readAgain)
}

func read(s state, c, t int) state {
	s.controllers[c].tasks[t] = memory{at: ready, xmin: s.table[t].xmin, version: s.table[t].version}
	return s
}

// wantsSession: a ready task may start, and no session is free for it.
func (w *world) wantsSession(s *state, c int) bool {
	for p := range s.sessions {
		if w.free(s, c, p) {
			return false
		}
	}
	for t, m := range s.controllers[c].tasks {
		if m.at == ready && !w.busy(s, c, w.tasks[t].lane, none) {
			return true
		}
	}
	return false
}

// open: the new session is committed to the register through the control connection.
func (w *world) open(s state, c, p int) state {
	start := s.lastStart(p) + 1
	s.sessions[p] = session{alive: true, linked: true, owner: uint8(c), start: start, trusted: true}
	if w.holds(registerFirst) {
		s.register[p] = start
	}
	return s
}

// attend: what becomes of a session at work. A controller that does not lead any more does it for
// marked runs.
func (w *world) attend(s *state, c, p int, to moves) {
	k, b := &s.controllers[c], &s.sessions[p]
	t := int(b.run.task)
	m := k.tasks[t]
	if b.run.phase == running && w.tasks[t].kind == writes && m.at == atWork &&
		(k.leads() || m.mark == marked || !w.holds(dropEnds)) {
		next := *s
		next.sessions[p].run.phase = ending
		to.add(will("leader", c, "sends the end of", t, p), next)
	}
	if k.leads() && k.linked && b.run.phase != idle && m.at == atWork && m.mark == unmarked && w.tasks[t].kind != once {
		w.markRunning(s, c, p, to)
	}
	if k.role == leader && k.controls() && !b.trusted && b.run.phase == idle && !w.held(s, c, p) {
		next := *s
		next.sessions[p].trusted = true
		to.add(will("leader", c, "makes a round trip on the control connection for", none, p), next)
	}
}

// markRunning marks what has run for 100 ms. What was sent behind it is called back first.
func (w *world) markRunning(s *state, c, p int, to moves) {
	b := &s.sessions[p]
	if b.behind.phase == idle || !w.holds(callBackFirst) {
		to.add(will("leader", c, "marks", int(b.run.task), p), w.askMark(*s, c, int(b.run.task), p, atWork))
		return
	}
	next := *s
	next.controllers[c].tasks[b.behind.task] = memory{}
	next.sessions[p].behind = run{}
	to.add(will("leader", c, "calls back", int(b.behind.task), p), next)
}

// askMark sends a mark. No more than that is known until it is answered.
func (w *world) askMark(s state, c, t, p int, at knows) state {
	m := &s.controllers[c].tasks[t]
	m.at, m.mark, m.pid, m.start = at, asked, uint8(p+1), s.sessions[p].start
	s.sessions[p].trusted = !w.holds(reuseAfterTrip)
	return s
}
