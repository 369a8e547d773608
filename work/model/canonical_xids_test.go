package model

// xacts calls f with each place that names a transaction id of a run on this server.
func (w *world) xacts(s *state, far bool, f func(*uint8)) {
	for t := range w.tasks {
		if w.far(t) != far {
			continue
		}
		f(&s.table.rows[t].xact)
		f(&s.disk.rows[t].xact)
		for c := range s.controllers {
			f(&s.controllers[c].tasks[t].xact)
			f(&s.controllers[c].wire[t].xact)
		}
	}
	for p := range s.sessions {
		if b := &s.sessions[p]; b.alive && b.far == far {
			f(&b.run.xact)
		}
	}
}

// canonicalXids numbers the transaction ids of a server from 1, in their order. It forgets the
// results of transactions that no run names. Ids at or above the next id stay there.
func (w *world) canonicalXids(s *state, far bool) {
	now, disk := &s.table.x, &s.disk.x
	if far {
		now, disk = &s.far.x, &s.farDisk.x
	}
	var number, runs numbers
	w.xacts(s, far, func(x *uint8) { number[*x], runs[*x] = 1, 1 })
	number[now.logged], number[disk.logged] = 1, 1
	number.count()
	next := uint8(1)
	for i := range now.next {
		if number[i] > 0 {
			next = number[i] + 1
		}
	}
	now.renumber(&number, &runs, next)
	disk.renumber(&number, &runs, next)
	w.xacts(s, far, func(x *uint8) { *x = number[*x] })
	if next > 14 {
		s.broken = tooManyXids
	}
}

func (x *xids) renumber(number, runs *numbers, next uint8) {
	var to uint16
	for i := 1; i < 16; i++ {
		if runs[i] > 0 && x.committed>>i&1 > 0 {
			to |= 1 << number[i]
		}
	}
	x.next, x.logged, x.committed = next, number[x.logged], to
}
