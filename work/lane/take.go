package lane

import "time"

// passMost is how many lanes are passed over each time: a search through 3000 takes 0.4 ms.
const passMost = 16

func (o *order[T]) first(fits func(T) bool, all bool) (t T, found bool) {
	if o.slots.IsClosed() || o.slots.isQuiet() || o.slots.isFull() {
		return t, false
	}
	o.resume()
	var passed []*lane[T]
	for len(o.starts.heap) > 0 && (all || len(passed) < passMost) && !found {
		l := o.starts.first()
		if found = o.accepts(l, fits); found {
			o.slots.busy++
			t = o.start(l)
		} else {
			o.starts.drop(l)
			passed = append(passed, l)
		}
	}
	for _, l := range passed {
		o.place(l)
	}
	return t, found
}

// accepts tells whether the first prefetched task of a lane may start as it was read, and fits.
func (o *order[T]) accepts(l *lane[T], fits func(T) bool) bool {
	return !o.read.stale(l.first()) && fits(l.prefetched[0])
}

func (o *order[T]) start(l *lane[T]) T {
	task := o.read.remove(l, 0)
	t := task.ticket()
	if l.group != nil && l.group.counts() {
		t.counted = true
		o.placeAll(l.group.members, l)
	}
	o.runs(l, +1)
	o.place(l)
	o.slots.begins(t)
	return task
}

// runs counts n more tasks that run in a lane, and in its group.
func (o *order[T]) runs(l *lane[T], n int) {
	l.running += n
	if g := l.group; g != nil {
		if g.running += n; g.slots >= 0 {
			o.placeAll(g.members, l)
		}
	}
}

// began says that a task of a lane has begun, at that time by the server's clock; zero: it has not.
func (o *order[T]) began(l *lane[T], t *Ticket, at time.Time) {
	counted := t.counted
	if t.counted = false; l.group != nil && l.group.began(counted, at) {
		o.placeAll(l.group.members, nil)
	}
}

// ended notes when a task of a lane has ended; zero: it never ran.
func (o *order[T]) ended(l *lane[T], t *Ticket, at time.Time) {
	if !at.IsZero() {
		l.ended, l.planned = at, t.Plan
	}
	if t.counted {
		o.began(l, t, at)
	}
}

// hold gives back (n is -1), or takes again (+1), the slots of a task.
func (o *order[T]) hold(l *lane[T], t *Ticket, n int) {
	if !t.passed {
		if o.runs(l, n); !t.left && !t.tries {
			o.slots.busy += n
		}
	}
	o.place(l)
}

// handOn makes a task take again what it gave back by hold, less what has passed to the next one:
// the place in run, and within the lane its slot.
func (o *order[T]) handOn(l *lane[T], t *Ticket, next T, found bool) {
	switch {
	case found && next.ticket().Lane == t.Lane:
		t.passed = true
		o.countEnd(l)
	case found:
		t.left = true
	}
	o.hold(l, t, +1)
}
