package model

// attend takes a run through its transaction. A controller that no longer leads does that for the
// runs that it has marked.
func (w *world) attend(s *state, c, p int, to moves) {
	k, b := &s.controllers[c], &s.sessions[p]
	t := int(b.run.task)
	m := k.tasks[t]
	mine := b.run.phase != idle && m.runs(s, p)
	if mine && b.run.phase == running && w.hasXact(t) {
		w.sendsPrepare(s, c, p, to)
		w.sendsCommit(s, c, p, to)
		w.rollsBack(s, c, p, to)
	}
	if mine && k.leads() && k.linked && m.mark == unmarked && m.prep == unprepared && w.local(t) {
		w.markRunning(s, c, p, to)
	}
	if k.role == leader && k.controls() && !b.trusted && b.run.phase == idle && !w.held(s, c, p) {
		next := *s
		next.sessions[p].trusted = true
		to.add(will("leader", c, "makes a round trip on the control connection for", none, p), next)
	}
}

// sendsPrepare: the session has told its transaction id. On a remote the fence goes first.
func (w *world) sendsPrepare(s *state, c, p int, to moves) {
	k, b := &s.controllers[c], &s.sessions[p]
	t := int(b.run.task)
	m := k.tasks[t]
	may := w.mayRegister(k) || m.mark == marked || !k.leads() && !w.holds(prepareUnderLock)
	ready := m.fenced || !b.far || !w.holds(fenceFirst)
	if m.prep == unprepared && may && ready && !k.wire[t].flying {
		next := *s
		n := &next.controllers[c]
		n.ledger = k.ledger || w.mayRegister(k)
		n.tasks[t].prep, n.tasks[t].xact = prepAsked, b.run.xact
		n.wire[t] = message{
			flying: true, xmin: m.xmin, version: m.version, request: m.request,
			pid: m.pid, start: m.start, xact: b.run.xact,
		}
		if b.far {
			n.wire[t].timeline = s.timeline
		}
		to.add(will("leader", c, "sends PREPARE of", t, p), next)
	}
	if b.far && !m.fenced && !s.down {
		to.add(will("leader", c, "fences", t, p), w.fences(*s, c, t))
	}
}

// sendsCommit: PREPARE was answered, and so was the fence.
func (w *world) sendsCommit(s *state, c, p int, to moves) {
	t := int(s.sessions[p].run.task)
	m := s.controllers[c].tasks[t]
	may := m.prep == prepTaken || m.prep == prepAsked && !w.holds(prepareAnswered) ||
		m.prep == prepLost && !w.holds(prepareOnce) || m.prep == prepNone && !w.holds(prepareNoneRolls)
	if may && (m.fenced || !w.far(t)) {
		next := *s
		next.sessions[p].run.phase = committing
		to.add(will("leader", c, "sends COMMIT of", t, p), next)
	}
}

// rollsBack: PREPARE has found no row, or its answer is lost. If the answer is lost, a marked run
// is prepared again. If a mark was sent, the session closes: a row that names it must be judged.
func (w *world) rollsBack(s *state, c, p int, to moves) {
	t := int(s.sessions[p].run.task)
	m := s.controllers[c].tasks[t]
	next := *s
	switch {
	case m.prep == prepLost && m.mark == marked && w.holds(preparedAgain):
		next.controllers[c].tasks[t].prep = unprepared
		to.add(will("leader", c, "will send PREPARE again of", t, p), next)
	case m.prep == prepNone && w.holds(prepareNoneRolls), m.prep == prepLost && w.holds(prepareOnce):
		next.goesOn(p)
		next.controllers[c].tasks[t] = memory{}
		if (m.mark == asked || m.mark == marked) && w.holds(rollbackCloses) {
			next.sessions[p].linked = false
		}
		w.closeUnused(&next, c)
		to.add(will("leader", c, "rolls back", t, p), next)
	}
}

// markRunning marks a task that has run for 100 ms. It first calls back the task sent after it.
func (w *world) markRunning(s *state, c, p int, to moves) {
	b := &s.sessions[p]
	if b.queued.phase == idle || !w.holds(callBackFirst) {
		t := int(b.run.task)
		to.add(will("leader", c, "sends MARK of", t, p), w.askMark(*s, c, t, p, atWork))
		return
	}
	next := *s
	next.controllers[c].tasks[b.queued.task] = memory{}
	next.sessions[p].queued = run{}
	to.add(will("leader", c, "calls back", int(b.queued.task), p), next)
}

// askMark sends a mark. The leader does not know the result until the answer comes.
func (w *world) askMark(s state, c, t, p int, at knows) state {
	m := &s.controllers[c].tasks[t]
	m.at, m.mark, m.pid, m.start = at, asked, uint8(p+1), s.sessions[p].start
	s.sessions[p].trusted = !w.holds(reuseAfterTrip)
	return s
}
