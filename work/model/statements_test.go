package model

// The statements that write to the task table, as the server executes them.

// mark sets the row to WORK. The session that holds the lock executes it.
func (w *world) mark(s state, c, t int) state {
	m, r := &s.controllers[c].tasks[t], s.row(t)
	if r.state != plan || r.xmin != m.xmin && w.holds(markAsksXmin) {
		m.mark = foundNone
		return s
	}
	if r.version != m.version {
		s.broken = changedRow
	}
	r.state, r.pid, r.start = work, m.pid, m.start
	if w.holds(xactCleared) {
		r.xact, r.timeline = 0, 0
	}
	r.xmin++
	m.mark = marked
	if w.tasks[t].kind == once && w.holds(markOnDisk) {
		s.disk = s.table
	}
	return s
}

// prepare writes WORK and the transaction id of the run.
func (w *world) prepare(s state, c, t int) state {
	msg := s.controllers[c].wire[t]
	s.controllers[c].wire[t] = message{}
	took := w.prepares(&s, t, msg)
	m := &s.controllers[c].tasks[t]
	if m.prep == prepAsked && m.xact == msg.xact && m.pid == msg.pid && m.start == msg.start {
		m.prep = prepNone
		if took {
			m.prep = prepTaken
		}
	}
	return s
}

// prepares says whether PREPARE finds the row: as it was read, or with the mark of this run.
func (w *world) prepares(s *state, t int, msg message) bool {
	r := s.row(t)
	asRead := r.xmin == msg.xmin || !w.holds(prepareAsksXmin)
	own := msg.pid > 0 && r.pid == msg.pid && r.start == msg.start && (r.xact == 0 || !w.holds(prepareAsksUnprepared))
	if w.holds(prepareAsksState) {
		asRead, own = asRead && r.state == plan, own && r.state == work
	}
	switch {
	case r.state == gone || !own && (!asRead || w.far(t) && w.holds(remoteAsksMark)):
		return false
	case !own && r.version != msg.version, r.state == stop:
		s.broken = changedRow
	}
	r.state, r.xact, r.timeline, r.stopping = work, msg.xact, msg.timeline, false
	if !own {
		r.pid, r.start = 0, 0
		if !w.holds(prepareShieldsNothing) {
			r.pid, r.start = msg.pid, msg.start
		}
	}
	r.xmin++
	ids := &s.table.x
	if id := ids.give(); w.holds(prepareIDLater) {
		ids.logged = id
	}
	if w.far(t) && w.holds(prepareOnDisk) {
		s.disk = s.table
	}
	if s.lives(msg.pid, msg.start) {
		if b := &s.sessions[msg.pid-1]; b.run.xact == msg.xact && int(b.run.task) == t && b.run.phase != idle {
			b.run.prepared = true
		}
	}
	return true
}

// end writes DONE, or FAIL if COMMIT was refused.
func (w *world) end(s *state, t int, m memory) {
	if m.xact > 0 {
		w.endPrepared(s, t, m)
		return
	}
	r := s.row(t)
	workOnly := m.mark == marked && w.holds(endOfMarkedAsksWork)
	asRead := (r.xmin == m.xmin || !w.holds(endAsksXmin)) && r.state == plan
	own := r.pid == m.pid && (r.start == m.start || !w.holds(endAsksStart)) && r.state == work
	switch {
	case !own && (!asRead || workOnly):
		return
	case own && r.start != m.start:
		s.broken = ownEnd
	case !own && r.version != m.version:
		s.broken = changedRow
	}
	w.write(r, done)
}

// endPrepared ends a run that has a transaction id. Only for a local run can the same statement ask
// for the status.
func (w *world) endPrepared(s *state, t int, m memory) {
	r, asserts, to := s.row(t), committed, done
	if m.refused {
		asserts, to = aborted, fail
	}
	if r.state != work || r.xact != m.xact && w.holds(endAsksXact) {
		return
	}
	if !w.far(t) && w.holds(endAsksStatus) && s.status(m.xact, false) != asserts {
		return
	}
	if r.xact != m.xact {
		s.broken = ownEnd
	}
	w.write(r, to)
}
