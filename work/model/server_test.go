package model

// server: what reaches it on connections of ours that run no tasks.
func (w *world) server(s *state, to moves) {
	for c := range s.controllers {
		k := &s.controllers[c]
		for t := range w.tasks {
			if k.tasks[t].mark == asked && (k.alive || !w.holds(markUnderLock)) {
				to.add(will("server", none, "executes the mark of", t, none), w.mark(*s, c, t))
			}
			if k.tasks[t].at == inFlight {
				to.add(will("server", none, "executes the completer's end of", t, none), w.completed(*s, c, t))
			}
		}
		if k.role == handing && k.alive && int(s.lock) == c+1 {
			next := *s
			next.lock = 0
			to.add(will("server", none, "executes the unlock of", none, none).of(c), next)
		}
		if k.alive && (k.frozen || !k.linked) && !k.stuck {
			to.add(will("server", none, "ends the idle control session of", none, none).of(c), s.loses(c))
		}
	}
	if w.mayCrash(s) && s.disk != s.table {
		next := *s
		next.disk = next.table
		to.add(will("server", none, "writes its log to the disk", none, none), next)
	}
}

// mark sets the row to WORK. The session that holds the lock executes it.
func (w *world) mark(s state, c, t int) state {
	m, r := &s.controllers[c].tasks[t], &s.table[t]
	if r.state != plan || r.xmin != m.xmin && w.holds(markAsksXmin) {
		m.mark = refused
		return s
	}
	if r.version != m.version {
		s.broken = changedRow
	}
	r.state, r.pid, r.start = work, m.pid, m.start
	r.xmin++
	m.mark = marked
	if w.tasks[t].kind == once && w.holds(markOnDisk) {
		s.disk = s.table
	}
	return s
}

// loses: the backend of a control connection is gone, the lock with it.
func (s *state) loses(c int) state {
	next := *s
	next.controllers[c].alive, next.controllers[c].stuck = false, false
	if int(next.lock) == c+1 {
		next.lock = 0
	}
	return next
}

// crashed: the server starts again with what had reached the disk. All connections are lost, and
// what was in flight on them.
func (w *world) crashed(s state) state {
	s.table, s.lock, s.sessions = s.disk, 0, [maxSessions]session{}
	for c := range s.controllers {
		k := &s.controllers[c]
		k.alive, k.stuck = false, false
		w.loseCompleter(&s, c)
		for t := range k.tasks {
			if m := &k.tasks[t]; m.mark == asked && w.holds(markUnderLock) {
				m.mark = refused
			}
		}
	}
	return s
}
