package model

// dispatch hands a ready task to a session, or marks it before it starts.
func (w *world) dispatch(s *state, c, t int, to moves) {
	m := s.controllers[c].tasks[t]
	if m.at == marking && (s.controllers[c].role == leader || w.holds(drainStarts)) {
		w.startMarked(s, c, t, to)
	}
	if m.at != ready || s.controllers[c].role != leader {
		return
	}
	for p := range s.sessions {
		switch lane := w.tasks[t].lane; {
		case w.follows(s, c, t, p) && !w.busy(s, c, lane, p):
			to.add(will("leader", c, "sends behind another", t, p), sendBehind(*s, c, t, p))
		case !w.free(s, c, p) || w.busy(s, c, lane, none):
		case w.tasks[t].kind == once && w.holds(markFirst):
			to.add(will("leader", c, "marks before it starts", t, p), w.askMark(*s, c, t, p, marking))
		default:
			to.add(will("leader", c, "starts", t, p), w.send(*s, c, t, p))
		}
	}
}

// startMarked starts what has been marked first when the mark is answered. A draining leader does
// so too.
func (w *world) startMarked(s *state, c, t int, to moves) {
	m := s.controllers[c].tasks[t]
	p := int(m.pid) - 1
	mayStart := m.mark == marked || m.mark == asked && !w.holds(markAnswered) || m.mark == refused && !w.holds(refusedNeverStarts)
	if mayStart && s.lives(m.pid, m.start) && s.sessions[p].linked {
		to.add(will("leader", c, "starts", t, p), w.send(*s, c, t, p))
	}
	if m.mark == refused && w.holds(refusedNeverStarts) {
		next := *s
		next.controllers[c].tasks[t] = memory{}
		to.add(will("leader", c, "does not start", t, none), next)
	}
}

// free says whether a task may be sent to the session.
func (w *world) free(s *state, c, p int) bool {
	b := &s.sessions[p]
	return b.alive && b.linked && int(b.owner) == c && b.run.phase == idle && b.trusted && !w.held(s, c, p)
}

// held: the session belongs to a marked run whose end is not committed.
func (w *world) held(s *state, c, p int) bool {
	for _, m := range s.controllers[c].tasks {
		if int(m.pid) == p+1 && (m.at == marking || m.mark != unmarked && w.holds(reuseAfterEnd)) {
			return true
		}
	}
	return false
}

// follows says whether the task may be sent behind the one that the session runs.
func (w *world) follows(s *state, c, t, p int) bool {
	b := &s.sessions[p]
	if !b.alive || !b.linked || int(b.owner) != c || b.run.phase == idle || b.behind.phase != idle {
		return false
	}
	before := s.controllers[c].tasks[b.run.task]
	return w.tasks[t].kind != once && w.tasks[b.run.task].kind != once && before.at == atWork &&
		(before.mark == unmarked || !w.holds(nothingBehindMark))
}

// busy says whether the leader counts a run of the lane, those of one session aside.
func (w *world) busy(s *state, c, lane, aside int) bool {
	for t, task := range w.tasks {
		m := s.controllers[c].tasks[t]
		if task.lane == lane && (m.at == marking || m.at == atWork) && int(m.pid) != aside+1 {
			return true
		}
	}
	for _, b := range s.controllers[c].spared {
		if b.task > 0 && w.tasks[b.task-1].lane == lane {
			return true
		}
	}
	return false
}

func (w *world) send(s state, c, t, p int) state {
	m := &s.controllers[c].tasks[t]
	s.sessions[p].run = run{phase: sent, task: uint8(t), xmin: m.xmin, version: m.version, shown: m.mark == marked}
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

func sendBehind(s state, c, t, p int) state {
	m := &s.controllers[c].tasks[t]
	s.sessions[p].behind = run{phase: sent, task: uint8(t), xmin: m.xmin, version: m.version}
	m.at, m.pid, m.start = atWork, uint8(p+1), s.sessions[p].start
	return s
}
