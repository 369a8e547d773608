package model

// canonical makes states equal that differ only in what nobody looks at any more, or in numbers
// that are only compared with each other.
func (w *world) canonical(s *state) {
	if !w.mayCrash(s) {
		s.disk = s.table
	}
	if s.controllers[0].rank() < s.controllers[1].rank() {
		s.swapControllers()
	}
	if s.sessions[0].rank() < s.sessions[1].rank() {
		s.swapSessions()
	}
	for p := range s.sessions {
		if w.holds(recogniseByStart) && !w.registered(s, p) {
			s.register[p] = 0
		}
		w.canonicalStarts(s, p)
	}
	for t := range w.tasks {
		for _, r := range []*row{&s.table[t], &s.disk[t]} {
			if r.state == gone {
				*r = row{xmin: r.xmin, version: r.version}
			}
			if r.state != work && w.holds(endAsksState) {
				r.pid, r.start = 0, 0
			}
		}
		if w.mayCrash(s) {
			s.shiftXmin(t)
		} else {
			s.compareOnly(t)
		}
	}
}

func (w *world) mayCrash(s *state) bool { return w.may(crash) && s.faults > 0 }

// starts calls f with each place that names a backend_start of the pid.
func (s *state) starts(p int, f func(*uint8)) {
	pid := uint8(p + 1)
	if s.sessions[p].alive {
		f(&s.sessions[p].start)
	}
	f(&s.register[p])
	for t := range s.table {
		for _, r := range []*row{&s.table[t], &s.disk[t]} {
			if r.pid == pid {
				f(&r.start)
			}
		}
	}
	for c := range s.controllers {
		k := &s.controllers[c]
		f(&k.spared[p].start)
		for t := range k.tasks {
			if k.tasks[t].pid == pid {
				f(&k.tasks[t].start)
			}
		}
	}
}

// lastStart is the latest backend_start of the pid that anything names.
func (s *state) lastStart(p int) uint8 {
	var last uint8
	s.starts(p, func(start *uint8) { last = max(last, *start) })
	return last
}

// canonicalStarts numbers the starts of a pid from 1, in their order.
func (w *world) canonicalStarts(s *state, p int) {
	var named [32]bool
	s.starts(p, func(start *uint8) { named[*start] = true })
	var number [32]uint8
	n := uint8(0)
	for i := 1; i < len(named); i++ {
		if named[i] {
			n++
			number[i] = n
		}
	}
	s.starts(p, func(start *uint8) { *start = number[*start] })
}

// xmins calls f with each place that remembers the row of a task.
func (s *state) xmins(t int, f func(xmin, version *uint8)) {
	for c := range s.controllers {
		if m := &s.controllers[c].tasks[t]; m.at != nothing {
			f(&m.xmin, &m.version)
		}
	}
	for p := range s.sessions {
		for _, r := range []*run{&s.sessions[p].run, &s.sessions[p].behind} {
			if r.phase != idle && int(r.task) == t {
				f(&r.xmin, &r.version)
			}
		}
	}
}

// shiftXmin: what is older than the row on the disk will never be met again.
func (s *state) shiftXmin(t int) {
	base := s.disk[t].xmin - 1
	s.xmins(t, func(xmin, _ *uint8) { *xmin -= min(*xmin, base) })
	s.table[t].xmin -= base
	s.disk[t].xmin = 1
}

// compareOnly: without a crash it only matters whether the row is still as it was read. What a
// crash has made later than the row may be met again.
func (s *state) compareOnly(t int) {
	r := &s.table[t]
	s.xmins(t, func(xmin, version *uint8) {
		*xmin, *version = *xmin+1-min(*xmin+1, r.xmin), 1-same(*version, r.version, 1)
	})
	r.xmin, r.version = 1, 0
	s.disk[t] = *r
}

func same(a, b, yes uint8) uint8 {
	if a == b {
		return yes
	}
	return 0
}

// Controllers differ in nothing but their names, and sessions neither: both stand in order of rank.

func (c *controller) rank() int {
	n := int(c.role) << 8
	for _, m := range c.tasks {
		n = n<<3 | int(m.at)
	}
	return n
}

func (b *session) rank() int {
	n := int(b.run.phase)<<4 | int(b.owner)<<2 | int(b.run.task)
	if b.alive {
		n |= 1 << 8
	}
	if b.trusted {
		n |= 1 << 7
	}
	return n
}

func (s *state) swapControllers() {
	s.controllers[0], s.controllers[1] = s.controllers[1], s.controllers[0]
	for p := range s.sessions {
		if b := &s.sessions[p]; b.alive && b.owner != somebody {
			b.owner = 1 - b.owner
		}
	}
	if s.lock > 0 {
		s.lock = 3 - s.lock
	}
}

func (s *state) swapSessions() {
	swap := func(pid *uint8) {
		if *pid > 0 {
			*pid = 3 - *pid
		}
	}
	s.sessions[0], s.sessions[1] = s.sessions[1], s.sessions[0]
	s.register[0], s.register[1] = s.register[1], s.register[0]
	for t := range s.table {
		swap(&s.table[t].pid)
		swap(&s.disk[t].pid)
	}
	for c := range s.controllers {
		k := &s.controllers[c]
		k.spared[0], k.spared[1] = k.spared[1], k.spared[0]
		for t := range k.tasks {
			swap(&k.tasks[t].pid)
		}
	}
}
