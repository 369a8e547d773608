package model

// session: its backend executes what is in flight, in the order in which it was sent.
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
		if w.tasks[t].kind != writes {
			to.add(will("server", none, "commits", t, p), w.commits(*s, p))
		}
	case ending:
		to.add(will("server", none, "executes the end of", t, p), w.ends(*s, p))
	}
	if b.dying {
		to.add(will("server", none, "has terminated", none, p), s.dies(p))
	} else if !b.linked {
		to.add(might("server", none, "notices the lost client of", none, p), s.dies(p))
	}
}

func (w *world) begins(s state, p int) state {
	r := &s.sessions[p].run
	r.phase = running
	if w.tasks[r.task].kind == once && !r.shown && s.table[r.task].version != r.version {
		s.broken = changedRow
	}
	return s
}

// commits: the input has committed by itself. The client learns the outcome, unless it has lost
// the connection.
func (w *world) commits(s state, p int) state {
	if m := s.known(p); m != nil {
		m.at = outcome
	}
	s.goesOn(p)
	return s
}

// ends: the end is executed in the transaction of the task, which then commits or rolls back.
func (w *world) ends(s state, p int) state {
	b := &s.sessions[p]
	r := b.run
	m := memory{xmin: r.xmin, version: r.version, pid: uint8(p + 1), start: b.start}
	switch row := &s.table[r.task]; {
	case !w.end(&s, int(r.task), m, false):
		if !w.holds(noRowRollsBack) {
			s.broken = effectsWithEnd
		}
	case row.effects > 0:
		s.broken = effectsOnce
	default:
		row.effects++
	}
	if m := s.known(p); m != nil {
		*m = memory{}
		w.closeUnused(&s, int(b.owner))
	}
	s.goesOn(p)
	return s
}

// known is what the client of the session remembers of the run, or nil where it does not learn of
// it.
func (s *state) known(p int) *memory {
	b := &s.sessions[p]
	if m := &s.controllers[b.owner].tasks[b.run.task]; b.linked && m.at == atWork && int(m.pid) == p+1 {
		return m
	}
	return nil
}

// goesOn: what was sent behind the run is next.
func (s *state) goesOn(p int) {
	b := &s.sessions[p]
	b.run, b.behind = b.behind, run{}
}

// end is the UPDATE that writes DONE. It says whether it has found the row.
func (w *world) end(s *state, t int, m memory, workOnly bool) bool {
	r := &s.table[t]
	if r.state == gone {
		return false
	}
	asRead := r.xmin == m.xmin || !w.holds(endAsksXmin)
	own := r.pid == m.pid && (r.start == m.start || !w.holds(endAsksStart))
	if w.holds(endAsksState) {
		asRead, own = asRead && r.state == plan, own && r.state == work
	}
	switch {
	case !own && (!asRead || workOnly):
		return false
	case own && r.start != m.start:
		s.broken = ownEnd
	case !own && r.version != m.version, r.state == stop:
		s.broken = changedRow
	}
	r.state, r.pid, r.start = done, 0, 0
	r.xmin++
	return true
}

func (s *state) dies(p int) state {
	next := *s
	next.sessions[p] = session{}
	return next
}
