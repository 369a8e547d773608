package model

// inOrder sorts controllers and sessions by rank, as they differ only in their names.
func (s *state) inOrder() {
	if s.controllers[0].rank() < s.controllers[1].rank() {
		s.swapControllers()
	}
	if s.sessions[0].rank() < s.sessions[1].rank() {
		s.swapSessions()
	}
}

func (c *controller) rank() int {
	n := int(c.role) << 12
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
	if b.far {
		n |= 1 << 9
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
	for t := range s.table.rows {
		swap(&s.table.rows[t].pid)
		swap(&s.disk.rows[t].pid)
	}
	for c := range s.controllers {
		k := &s.controllers[c]
		k.spared[0], k.spared[1] = k.spared[1], k.spared[0]
		for t := range k.tasks {
			swap(&k.tasks[t].pid)
			swap(&k.wire[t].pid)
		}
	}
}
