package model

// remote lists the steps of the remote: it writes its log to the disk (or to the standby, if it may
// fail over), and can be reached again.
func (w *world) remote(s *state, to moves) {
	if w.mayFarFail(s) && s.farDisk != s.far {
		next := *s
		next.farDisk = next.far
		to.add(will("remote", none, "writes its log to the disk or to the standby", none, none), next)
	}
	if s.down {
		next := *s
		next.down = false
		to.add(will("remote", none, "can be reached again", none, none), next)
	}
}

func (w *world) mayFarFail(s *state) bool { return w.may(farFails) && s.faults > 0 }

// fences: a second connection commits a transaction of its own on the remote and waits for the
// disk. Its id is later than that of the run, so a crash cannot give the run's id to another
// transaction.
func (w *world) fences(s state, c, t int) state {
	s.far.x.commit(s.far.x.give())
	if !w.may(failover) {
		s.farDisk = s.far
	}
	s.controllers[c].tasks[t].fenced = true
	return s
}

// farFailed: the remote restarts with the log that had reached the disk, or its standby takes over
// with the log that had reached the standby. A standby begins a new timeline.
func (w *world) farFailed(s state, timeline uint8) state {
	s.far, s.timeline = s.farDisk, timeline
	s.far.x.next = s.far.x.logged + 1
	for p := range s.sessions {
		if s.sessions[p].far {
			s.sessions[p] = session{}
		}
	}
	return s
}

// verdict says how the transaction that the row names has ended. On a later timeline of the remote,
// a committed transaction with that id may be somebody else's.
func (w *world) verdict(s *state, t int, r row) status {
	v := s.status(r.xact, w.far(t))
	switch {
	case v == inFuture && !w.holds(futureIsNever):
		return inProgress
	case v == committed && r.timeline != s.timeline && w.far(t) && w.holds(judgeAsksTimeline):
		return untold
	}
	return v
}

// farFaults lists the mishaps of the remote.
func (w *world) farFaults(before *state, to moves) {
	if w.may(farCrash) {
		to.add(might("remote", none, "crashes", none, none), w.farFailed(*before, before.timeline))
	}
	if w.may(failover) {
		to.add(might("remote", none, "fails over to its standby", none, none), w.farFailed(*before, before.timeline+1))
	}
	if w.may(farDown) && !before.down {
		next := *before
		next.down = true
		to.add(might("remote", none, "cannot be reached", none, none), next)
	}
}
