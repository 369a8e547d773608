package model

// canonical makes states equal that differ only in values that nobody reads any more, or in numbers
// that are only compared with each other.
func (w *world) canonical(s *state) {
	if !w.mayCrash(s) {
		s.disk = s.table
	}
	if !w.mayFarFail(s) {
		s.farDisk = s.far
	}
	s.inOrder()
	for p := range s.sessions {
		if w.holds(recogniseByStart) && !w.registered(s, p) {
			s.register[p] = 0
		}
		s.canonicalStarts(p)
	}
	for t := range w.tasks {
		w.canonicalRow(&s.table.rows[t])
		w.canonicalRow(&s.disk.rows[t])
		if w.mayCrash(s) {
			s.shiftXmin(t)
		} else {
			s.compareOnly(t)
		}
	}
	w.canonicalXids(s, false)
	w.canonicalXids(s, true)
}

// canonicalRow clears the columns that nobody reads in this state of the row.
func (w *world) canonicalRow(r *row) {
	if r.state == gone {
		*r = row{xmin: r.xmin, version: r.version, request: r.request}
	}
	if r.state != work && w.holds(prepareAsksState) {
		r.pid, r.start = 0, 0
		if w.holds(xactCleared) {
			r.xact, r.timeline = 0, 0
		}
	}
}

// starts calls f with each place that names a backend_start of the pid.
func (s *state) starts(p int, f func(*uint8)) {
	pid := uint8(p + 1)
	if s.sessions[p].alive {
		f(&s.sessions[p].start)
	}
	f(&s.register[p])
	for t := range s.table.rows {
		for _, r := range []*row{&s.table.rows[t], &s.disk.rows[t]} {
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
			if k.wire[t].pid == pid {
				f(&k.wire[t].start)
			}
		}
	}
}

// lastStart is the latest backend_start of the pid in any place.
func (s *state) lastStart(p int) uint8 {
	var last uint8
	s.starts(p, func(start *uint8) { last = max(last, *start) })
	return last
}

// canonicalStarts numbers the starts of a pid from 1, in their order.
func (s *state) canonicalStarts(p int) {
	var named numbers
	s.starts(p, func(start *uint8) { named[*start] = 1 })
	named.count()
	s.starts(p, func(start *uint8) { *start = named[*start] })
}

// numbers maps a number to another one. Zero stays zero.
type numbers [64]uint8

// count gives the numbers that are set the values 1, 2 and so on, in their order.
func (n *numbers) count() {
	n[0] = 0
	last := uint8(0)
	for i := range n {
		if n[i] > 0 {
			last++
			n[i] = last
		}
	}
}

// xmins calls f with each place that remembers the row of a task.
func (s *state) xmins(t int, f func(xmin, version *uint8)) {
	for c := range s.controllers {
		if m := &s.controllers[c].tasks[t]; m.at != nothing {
			f(&m.xmin, &m.version)
		}
		if msg := &s.controllers[c].wire[t]; msg.flying {
			f(&msg.xmin, &msg.version)
		}
	}
	for p := range s.sessions {
		for _, r := range []*run{&s.sessions[p].run, &s.sessions[p].queued} {
			if r.phase != idle && int(r.task) == t {
				f(&r.xmin, &r.version)
			}
		}
	}
}

// shiftXmin: no row will have an xmin older than the one on the disk again.
func (s *state) shiftXmin(t int) {
	base := s.disk.rows[t].xmin - 1
	s.xmins(t, func(xmin, _ *uint8) { *xmin -= min(*xmin, base) })
	s.table.rows[t].xmin -= base
	s.disk.rows[t].xmin = 1
}

// compareOnly: without a crash it only matters whether the row is still as it was read. If a crash
// has made an xmin later than that of the row, the row may get this xmin again.
func (s *state) compareOnly(t int) {
	r := &s.table.rows[t]
	s.xmins(t, func(xmin, version *uint8) {
		*xmin, *version = *xmin+1-min(*xmin+1, r.xmin), 1-same(*version, r.version)
	})
	r.xmin, r.version = 1, 0
	s.disk.rows[t] = *r
}

func same(a, b uint8) uint8 {
	if a == b {
		return 1
	}
	return 0
}
