package lane

// There may be a million lanes, so none is looked at without need: Pace visits those that it has
// to do with, which are noted when they change, and not more of them at a time than takes a moment.

// queue is what Pace looks at in turn.
type queue[T any] struct{ all []T }

func (q *queue[T]) add(one T) { q.all = append(q.all, one) }

// visitMost is how many of a queue are visited at least, and a part of them all, so that it does not
// grow while as many come as go.
const (
	visitMost  = 1000
	visitShare = 16
)

// visit looks at the first ones of the queue. Those that are to stay go to its end.
func (q *queue[T]) visit(stays func(T) bool) {
	n := min(len(q.all), visitMost+len(q.all)/visitShare)
	for _, one := range q.all[:n] {
		if stays(one) {
			q.all = append(q.all, one)
		}
	}
	clear(q.all[:n])
	if q.all = q.all[n:]; len(q.all) == 0 {
		q.all = nil
	}
}

// note takes down what Pace has to do with a lane that has changed.
func (s *Lanes[T]) note(l *lane[T]) {
	if l.recent > 0 && !l.lively {
		l.lively = true
		s.lively = append(s.lively, l)
	}
	if !l.idle && l.isEmpty() {
		l.idle = true
		s.idle.add(l)
	}
}

// calm has lanes forget half of what they have ended.
func (s *Lanes[T]) calm() {
	lively := s.lively
	s.lively = s.lively[:0]
	for _, l := range lively {
		if s.all[l.key] != l { // it was dropped since
			continue
		}
		l.recent /= 2
		if l.lively = l.recent > 0; l.lively {
			s.lively = append(s.lively, l)
		}
		s.place(l)
	}
	clear(lively[len(s.lively):])
}

// forget drops lanes that are empty, gates that stand before nothing, and groups that have no lane,
// once there is nothing that they must remember.
func (s *Lanes[T]) forget() {
	s.idle.visit(func(l *lane[T]) bool {
		s.prune(l)
		l.idle = s.all[l.key] == l && l.isEmpty()
		return l.idle
	})
	now := s.now()
	s.idleGates.visit(func(g *gate[T]) bool {
		g.idle = len(g.lanes) == 0 && now.Before(g.until.time())
		if len(g.lanes) == 0 && !g.idle {
			s.uncrowd(g)
			delete(s.gates, g.remote)
		}
		return g.idle
	})
	s.idleGroups.visit(func(g *group[T]) bool {
		if g.idle = len(g.lanes) == 0 && s.groups[g.name] == g; !g.idle {
			return false
		}
		g.idle = false
		for _, w := range g.windows {
			w.expire(now)
			g.idle = g.idle || w.count+w.pending > 0
		}
		if !g.idle {
			delete(s.groups, g.name)
		}
		return g.idle
	})
}
