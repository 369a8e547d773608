package model

// server executes the messages on our connections that run no tasks.
func (w *world) server(s *state, to moves) {
	for c := range s.controllers {
		k := &s.controllers[c]
		for t := range w.tasks {
			if k.tasks[t].mark == asked && (k.alive || !w.holds(markUnderLock)) {
				to.add(will("server", none, "executes MARK of", t, none), w.mark(*s, c, t))
			}
			if k.wire[t].flying {
				to.add(will("server", none, "executes PREPARE of", t, none).of(c), w.prepare(*s, c, t))
			}
			if k.tasks[t].at == inFlight {
				to.add(will("server", none, "executes END of", t, none).of(c), w.completed(*s, c, t))
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

func (w *world) mayCrash(s *state) bool { return w.may(crash) && s.faults > 0 }

// loses: the backend of a control connection is gone, and so is the lock.
func (s *state) loses(c int) state {
	next := *s
	next.controllers[c].alive, next.controllers[c].stuck = false, false
	if int(next.lock) == c+1 {
		next.lock = 0
	}
	return next
}

// crashed: the server restarts with the log that had reached the disk, and hands out the
// transaction ids again that this log does not name. All connections are lost, with the messages in
// flight.
func (w *world) crashed(s state) state {
	s.table, s.lock = s.disk, 0
	s.table.x.next = s.table.x.logged + 1
	for p := range s.sessions {
		if !s.sessions[p].far {
			s.sessions[p] = session{}
		}
	}
	for c := range s.controllers {
		k := &s.controllers[c]
		k.alive, k.stuck = false, false
		w.loseLedger(&s, c)
		for t := range k.tasks {
			if m := &k.tasks[t]; m.mark == asked && w.holds(markUnderLock) {
				m.mark = foundNone
			}
		}
	}
	return s
}
