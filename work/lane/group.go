package lane

import "time"

// group is all lanes of one group for which there are limits. Lanes owns it.
type group[T Holder] struct {
	lanes   map[*lane[T]]struct{}
	rules   []*rule
	windows map[*rule]*window // of those with a rate
	slots   int               // most tasks at once; below 0: as many as may
	running int               // slots in use, in all its lanes
}

// join makes a lane one of its group, where there are limits for that.
func (s *Lanes[T]) join(l *lane[T]) {
	found := s.rules.of(l.key.group)
	if len(found) == 0 {
		return
	}
	g := s.groups[l.key.group]
	if g == nil {
		g = &group[T]{lanes: map[*lane[T]]struct{}{}, windows: map[*rule]*window{}}
		s.groups[l.key.group] = g
		g.hold(found)
	}
	l.group, g.lanes[l] = g, struct{}{}
	g.running += l.running
}

// leaveGroup forgets a lane of a group. The group stays as long as it knows of starts.
func (s *Lanes[T]) leaveGroup(l *lane[T]) {
	if l.group != nil {
		delete(l.group.lanes, l)
		l.group.running -= l.running
		l.group = nil
	}
}

// hold makes these the rules of the group. It keeps what it knows of starts under those that stay.
func (g *group[T]) hold(all []*rule) {
	g.rules, g.slots = all, -1
	windows := make(map[*rule]*window, len(g.windows))
	for _, one := range all {
		if one.Slots >= 0 && (g.slots < 0 || one.Slots < g.slots) {
			g.slots = one.Slots
		}
		if one.Rate == 0 {
			continue
		}
		if windows[one] = g.windows[one]; windows[one] == nil {
			windows[one] = &window{rule: one}
		}
	}
	g.windows = windows
}

// remembersNothing tells whether no start counts any more under a rate.
func (g *group[T]) remembersNothing(now time.Time) bool {
	for _, w := range g.windows {
		if w.expire(now); w.count+w.pending > 0 {
			return false
		}
	}
	return true
}

// regroup gives each lane the group that it is now of, after a change of the rules.
func (s *Lanes[T]) regroup() {
	limited, rated := len(s.rules.all) > 0, false
	for _, one := range s.rules.all {
		rated = rated || one.Rate > 0
	}
	s.rated.Store(rated)
	for name, g := range s.groups {
		if found := s.rules.of(name); len(found) > 0 && limited {
			g.hold(found)
		} else {
			delete(s.groups, name)
		}
	}
	for _, l := range s.all {
		before := l.group
		s.leaveGroup(l)
		if limited {
			s.join(l)
		}
		if before != nil || l.group != nil {
			s.place(l)
		}
	}
}

// runs counts n more tasks that run in a lane, and in its group.
func (s *Lanes[T]) runs(l *lane[T], n int) {
	l.running += n
	if g := l.group; g != nil {
		g.running += n
		if g.slots >= 0 {
			s.placeOthers(g, l)
		}
	}
}

// placeOthers puts the other lanes of a group where they now belong.
func (s *Lanes[T]) placeOthers(g *group[T], l *lane[T]) {
	for other := range g.lanes {
		if other != l {
			s.place(other)
		}
	}
}

// held tells whether none of the group may start: until then, or, if it is zero, until something
// else changes that.
func (g *group[T]) held(now time.Time) (held bool, until time.Time) {
	for _, one := range g.rules {
		switch {
		case !one.pausedAt(now):
		case one.Until.IsZero():
			return true, time.Time{}
		default:
			held, until = true, later(until, one.Until)
		}
	}
	for _, w := range g.windows {
		full, opens := w.full(now)
		if full && opens.IsZero() {
			return true, time.Time{}
		} else if full {
			held, until = true, later(until, opens)
		}
	}
	return held, until
}

// credit is how many of the group may start now, as far as its rates are concerned; below 0: as
// many as may.
func (g *group[T]) credit() int {
	credit := -1
	for _, w := range g.windows {
		if room := max(w.rule.Rate-w.pending-w.count, 0); credit < 0 || room < credit {
			credit = room
		}
	}
	return credit
}

// counts takes a task for one that starts now, until it is known when it has.
func (s *Lanes[T]) counts(l *lane[T], t *Ticket) {
	if l.group == nil || len(l.group.windows) == 0 {
		return
	}
	t.counted = true
	for _, w := range l.group.windows {
		w.pending++
	}
	s.placeOthers(l.group, l)
}

// uncounts takes that back for a task that has not begun; or it began at that time, by the server's
// clock.
func (s *Lanes[T]) uncounts(l *lane[T], t *Ticket, began time.Time) {
	counted := t.counted
	t.counted = false
	if l.group == nil || !counted && began.IsZero() {
		return
	}
	for _, w := range l.group.windows {
		if counted {
			w.pending = max(w.pending-1, 0) // 0: the rule is newer than the task
		}
		if !began.IsZero() {
			w.add(began)
		}
	}
	if len(l.group.windows) > 0 {
		s.placeOthers(l.group, nil)
	}
}

// Began says that the SQL of a task that was started has begun, at a time by the server's clock. A
// task that is run again without being given back begins once more.
func (s *Lanes[T]) Began(task T, at time.Time) {
	if !s.rated.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := task.ticket()
	s.uncounts(s.lane(t.Lane), t, at)
}
