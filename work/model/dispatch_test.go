package model

// dispatch hands a ready task to a session, or marks it before it starts.
func (w *world) dispatch(s *state, c, t int, to moves) {
	m := s.controllers[c].tasks[t]
	if m.at == marking && (s.controllers[c].role == leader || w.holds(drainStarts)) {
		w.startMarked(s, c, t, to)
	}
	if m.at != ready || s.controllers[c].role != leader || w.predecessor(s, t) != done {
		return
	}
	for p := range s.sessions {
		switch {
		case w.follows(s, c, t, p) && !w.busy(s, c, t, p):
			to.add(will("leader", c, "sends after another", t, p), sendQueued(*s, c, t, p))
		case !w.free(s, c, p, w.far(t)) || w.busy(s, c, t, none):
		case w.markedFirst(t):
			to.add(will("leader", c, "sends MARK, before it starts, of", t, p), w.askMark(*s, c, t, p, marking))
		default:
			to.add(will("leader", c, "starts", t, p), w.send(*s, c, t, p))
		}
	}
}

// startMarked starts a task that is marked first, after its mark. A draining leader does so, too.
func (w *world) startMarked(s *state, c, t int, to moves) {
	m := s.controllers[c].tasks[t]
	p := int(m.pid) - 1
	mayStart := m.mark == marked || m.mark == asked && !w.holds(markAnswered) ||
		m.mark == foundNone && !w.holds(markNoneCancels)
	if mayStart && s.lives(m.pid, m.start) && s.sessions[p].linked {
		to.add(will("leader", c, "starts", t, p), w.send(*s, c, t, p))
	}
	if m.mark == foundNone && w.holds(markNoneCancels) {
		next := *s
		next.controllers[c].tasks[t] = memory{}
		to.add(will("leader", c, "does not start", t, none), next)
	}
}

// free says whether a task may be sent to the session.
func (w *world) free(s *state, c, p int, far bool) bool {
	b := &s.sessions[p]
	return b.alive && b.linked && b.far == far && int(b.owner) == c &&
		b.run.phase == idle && b.trusted && !w.held(s, c, p)
}

// held: the session belongs to a marked run whose end is not committed.
func (w *world) held(s *state, c, p int) bool {
	for _, m := range s.controllers[c].tasks {
		if m.in(s, p) && (m.at == marking || m.mark != unmarked && w.holds(reuseAfterEnd)) {
			return true
		}
	}
	return false
}

// follows says whether the task may be sent after the one that the session runs. It is never sent
// after an open transaction, only after its COMMIT.
func (w *world) follows(s *state, c, t, p int) bool {
	b := &s.sessions[p]
	if !b.alive || !b.linked || b.far != w.far(t) || int(b.owner) != c || b.run.phase == idle || b.queued.phase != idle {
		return false
	}
	u := int(b.run.task)
	before := s.controllers[c].tasks[u]
	return w.local(t) && w.local(u) && before.runs(s, p) && (!w.hasXact(u) || b.run.phase == committing) &&
		(before.mark == unmarked || !w.holds(nothingAfterMark))
}

// busy says whether the leader counts a run in the lane of the task, except runs of the session
// aside, or whether the predecessor of the task still runs.
func (w *world) busy(s *state, c, t, aside int) bool {
	k := &s.controllers[c]
	for u := range w.tasks {
		m := k.tasks[u]
		counts := w.tasks[u].lane == w.tasks[t].lane && int(m.pid) != aside+1 || w.waitsFor(t, u)
		if counts && (m.at == marking || m.at == atWork) {
			return true
		}
	}
	for _, b := range k.spared {
		if u := int(b.task) - 1; u >= 0 && (w.tasks[u].lane == w.tasks[t].lane || w.waitsFor(t, u)) {
			return true
		}
	}
	return false
}

// waitsFor: t follows u, and does not start while u runs.
func (w *world) waitsFor(t, u int) bool { return w.tasks[t].after == u+1 && w.holds(afterWaits) }

func (w *world) send(s state, c, t, p int) state {
	m := &s.controllers[c].tasks[t]
	s.sessions[p].run = run{
		phase: sent, task: uint8(t), xmin: m.xmin, version: m.version, request: m.request,
		shown: m.mark == marked,
	}
	m.at, m.pid, m.start = atWork, uint8(p+1), s.sessions[p].start
	if w.tasks[t].kind == once {
		if s.asked[t] == 0 {
			s.broken = startedOnce
		} else {
			s.asked[t]--
		}
	}
	return s
}

func sendQueued(s state, c, t, p int) state {
	m := &s.controllers[c].tasks[t]
	s.sessions[p].queued = run{phase: sent, task: uint8(t), xmin: m.xmin, version: m.version, request: m.request}
	m.at, m.pid, m.start = atWork, uint8(p+1), s.sessions[p].start
	return s
}
