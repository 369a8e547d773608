package model

// follower lists the steps of a controller that stands by, and its way to become the leader.
func (w *world) follower(s *state, c int, to moves) {
	k := &s.controllers[c]
	next := *s
	switch {
	case k.role != follower && k.role != drained && !k.controls():
		to.add(will("controller", c, "notices that its control connection is lost", none, none), w.endTerm(*s, c))
	case k.role == follower && !k.alive:
		next.controllers[c].alive, next.controllers[c].linked = true, true
		to.add(will("follower", c, "connects", none, none), next)
	case !k.controls():
	case k.role == follower:
		w.tryLock(s, c, to)
	case k.role == locked:
		to.add(will("follower", c, "reads the WORK rows", none, none), w.spare(*s, c))
	case k.role == counted:
		to.add(will("follower", c, "ends the registered sessions that own none", none, none), w.endOthers(*s, c))
	case k.role == awaiting && (s.allGone() || !w.holds(awaitGone)):
		next.controllers[c].role = leader
		to.add(will("follower", c, "leads", none, none), next)
	}
}

func (w *world) tryLock(s *state, c int, to moves) {
	if s.lock == 0 {
		next := *s
		next.lock, next.controllers[c].role = uint8(c+1), locked
		to.add(will("follower", c, "takes the lock", none, none), next)
		return
	}
	holder := int(s.lock) - 1
	if o := &s.controllers[holder]; holder != c && (o.frozen || !o.linked) && w.holds(endStaleHolder) {
		to.add(will("follower", c, "ends the stale holder of the lock", none, none), s.loses(holder))
	}
}

// spare: sessions that own WORK rows stay, and count in their lanes. Nobody looks for sessions on the
// remote.
func (w *world) spare(s state, c int) state {
	k := &s.controllers[c]
	k.role = counted
	for p, b := range s.sessions {
		for t, r := range s.table.rows {
			if b.alive && !b.far && r.state == work && s.isOwner(r, p) {
				k.spared[p] = spared{task: uint8(t + 1), start: b.start}
			}
		}
	}
	return s
}

// endOthers terminates the registered sessions that were not spared.
func (w *world) endOthers(s state, c int) state {
	k := &s.controllers[c]
	k.role = awaiting
	for p := range s.sessions {
		if k.spared[p].task > 0 || !w.registered(&s, p) || !w.holds(endUnmarked) {
			continue
		}
		if s.drainedRun(p) {
			s.broken = drainCuts
		}
		if s.sessions[p].owner == somebody {
			s.broken = foreignSession
		}
		s.sessions[p].dying = true
	}
	if !w.holds(countMarked) {
		k.spared = [maxSessions]spared{}
	}
	if w.holds(endLedger) {
		w.loseLedger(&s, 1-c)
	}
	return s
}

// registered says whether the register names the session that has this pid now.
func (w *world) registered(s *state, p int) bool {
	b := &s.sessions[p]
	return b.alive && s.register[p] > 0 && (s.register[p] == b.start || !w.holds(recogniseByStart))
}

// drainedRun: a drained controller runs a task in this session, and its row is as it was read.
func (s *state) drainedRun(p int) bool {
	b := &s.sessions[p]
	return b.run.phase != idle && b.owner != somebody && b.linked && !s.controllers[b.owner].frozen &&
		s.controllers[b.owner].role == drained && s.row(int(b.run.task)).xmin == b.run.xmin
}

// allGone: no terminated session is alive.
func (s *state) allGone() bool {
	for _, b := range s.sessions {
		if b.dying {
			return false
		}
	}
	return true
}

// endTerm drops everything that belongs to the term. Marked runs go on. Their ends, and those of
// prepared runs, are written.
func (w *world) endTerm(s state, c int) state {
	k := &s.controllers[c]
	k.role, k.spared = follower, [maxSessions]spared{}
	for t := range w.tasks {
		switch m := &k.tasks[t]; {
		case m.at == inFlight:
		case m.at == ready && !w.holds(dropReady):
		case m.at == outcome && m.xact > 0:
		case (m.at == atWork || m.at == outcome) && (m.mark == marked || !w.holds(dropEnds)):
		default:
			*m = memory{}
		}
	}
	w.closeUnused(&s, c)
	return s
}

// closeUnused: a controller that does not lead closes sessions that run none of its tasks.
func (w *world) closeUnused(s *state, c int) {
	if s.controllers[c].leads() {
		return
	}
	for p := range s.sessions {
		b := &s.sessions[p]
		if b.alive && int(b.owner) == c {
			b.linked = b.linked && w.used(s, c, p)
		}
	}
}

func (w *world) used(s *state, c, p int) bool {
	for _, m := range s.controllers[c].tasks {
		if m.in(s, p) && (m.at == atWork || m.at > atWork && w.holds(keepOpen)) {
			return true
		}
	}
	return false
}
