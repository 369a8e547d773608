package lane

import (
	"math"
	"time"
)

// order knows which lanes may be read, may start a task, or wait for a time, and in which order.
type order[T Holder] struct {
	now     func() time.Time // the server's clock
	slots   *Slots
	gates   *gates[*lane[T]]
	read    *prefetchedSet[T]
	fetches laneHeap[T]           // lanes whose first ready task is to be read
	starts  laneHeap[T]           // lanes whose first prefetched task may start
	tryouts map[*lane[T]]struct{} // lanes whose first prefetched task may try their gate
	pausing laneHeap[T]           // lanes that wait for the end of a pause, a try of their gate, or a rate
	ahead   int                   // how many tasks may be read beyond those that can start now
	ends    int                   // how many tasks have ended since the last pace
	paced   time.Time             // when pace was last called, by our clock
	beat    int                   // how often pace was called
}

const (
	paceTick  = 50 * time.Millisecond
	mostAhead = 3000
)

// pace sets how many tasks are read ahead. Lanes.Pace asks for as many as end in four ticks:
// runners must find tasks while the loop writes hundreds of ends and shares the cores with them.
// Each call halves the recent ends of all lanes.
func (o *order[T]) pace(ahead int) {
	o.ahead, o.ends, o.paced = ahead, 0, time.Now()
	o.beat++
}

func (o *order[T]) countEnd(l *lane[T]) {
	l.recent, l.beat = l.lately(o.beat)+1, o.beat
	o.ends++
}

// place puts a lane where it belongs now. It must be called after each change of a lane.
func (o *order[T]) place(l *lane[T]) {
	waits, until := o.waits(l)
	switch {
	case l.trying() && l.fetching+l.running == 0 && (waits || len(l.prefetched) == 0):
		o.tries(l.gate, nil) // others may try instead; this places all lanes of the gate
		return
	case waits:
		o.pause(l, until)
		return
	}
	o.pausing.drop(l)
	if o.wanted(l) {
		top := l.ready[0]
		if l.outranked() { // the prefetched tasks wait for it
			top.Priority = math.MaxInt32
		}
		o.fetches.put(l, top, l.running+len(l.prefetched)+l.fetching)
	} else {
		o.fetches.drop(l)
	}
	delete(o.tryouts, l)
	switch {
	case !l.startable():
		o.starts.drop(l)
	case l.gate != nil && l.gate.shut:
		o.starts.drop(l)
		o.tryouts[l] = struct{}{}
	default:
		o.starts.put(l, l.first().Rank, l.running)
	}
}

// waits tells whether no task of the lane may start, whatever is ready there, and until when; zero:
// until another event places the lane.
func (o *order[T]) waits(l *lane[T]) (waits bool, until time.Time) {
	if barred, until := o.barred(l); barred {
		return true, until
	}
	if l.group != nil {
		if held, until := l.group.held(o.now()); held {
			return true, until
		}
	}
	until = l.pauseEnds()
	return !until.IsZero() && o.now().Before(until), until
}

// pause takes the lane out of the other heaps until that time: see waits.
func (o *order[T]) pause(l *lane[T], until time.Time) {
	if until.IsZero() {
		o.pausing.drop(l)
	} else {
		o.pausing.put(l, Rank{ID: until.Add(time.Microsecond - 1).UnixMicro()}, 0)
	}
	o.fetches.drop(l)
	o.starts.drop(l)
	delete(o.tryouts, l)
}

func (o *order[T]) placeAll(lanes map[*lane[T]]struct{}, but *lane[T]) {
	for l := range lanes {
		if l != but {
			o.place(l)
		}
	}
}

// resume places the lanes whose waiting time is over.
func (o *order[T]) resume() {
	if len(o.pausing.heap) == 0 {
		return
	}
	for now := o.now(); len(o.pausing.heap) > 0 && !now.Before(o.resumes()); {
		l := o.pausing.first()
		o.pausing.drop(l)
		o.place(l)
	}
}

func (o *order[T]) resumes() time.Time { return time.UnixMicro(o.pausing.heap[0].order.ID) }

func (o *order[T]) barred(l *lane[T]) (barred bool, until time.Time) {
	return o.gates.bars(l.gate, l, o.slots.most(), o.now)
}

// tries lets a lane try a gate; nil: no lane tries it any more.
func (o *order[T]) tries(g *gate[*lane[T]], l *lane[T]) {
	o.gates.set(g, l)
	o.placeAll(g.members, nil)
}

// mayTry lets the lane try its gate, if the gate is shut and no lane tries it.
func (o *order[T]) mayTry(l *lane[T]) {
	if l.gate != nil && l.gate.shut && !l.gate.isTried() {
		o.tries(l.gate, l)
	}
}

// wanted tells whether the lane's first ready task is to be read, if the gate does not bar it.
func (o *order[T]) wanted(l *lane[T]) bool {
	return !l.trying() && l.prefetchable(min(l.lately(o.beat), o.ahead))
}

// next returns the first lane to be read, or nil. It puts lanes aside that are not to be read any
// more: too many other gates are tried now, or fewer tasks of the lane end.
func (o *order[T]) next() *lane[T] {
	for len(o.fetches.heap) > 0 {
		l := o.fetches.first()
		if barred, _ := o.barred(l); !barred && o.wanted(l) {
			return l
		}
		o.place(l)
	}
	return nil
}

// unheard tells whether the first lane to be read has no prefetched task and would be the next to
// start one. It must not wait, however many tasks of other lanes are prefetched.
func (o *order[T]) unheard() bool {
	l, next := o.next(), o.starts.first()
	if l == nil || len(l.prefetched)+l.fetching > 0 {
		return false
	}
	if next == nil {
		return true
	}
	a, b := l.ready[0].Priority, next.first().Rank.Priority
	return a > b || a == b && l.running < next.running
}

// passMost is how many lanes a search passes over: a search through 3000 lanes takes 0.4 ms.
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
			t = o.start(l, bothSlots)
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

// accepts tells whether the first prefetched task of a lane fits and is not stale.
func (o *order[T]) accepts(l *lane[T], fits func(T) bool) bool {
	return !o.read.stale(l.first()) && fits(l.prefetched[0])
}

// start hands out the first prefetched task of a lane, with these slots.
func (o *order[T]) start(l *lane[T], with holding) T {
	task := o.read.remove(l, 0)
	t := task.ticket()
	if l.group != nil && l.group.counts() {
		t.counted = true
		o.placeAll(l.group.members, l)
	}
	o.hold(l, t, with)
	o.slots.begins(t)
	return task
}

// runs adds n to the running tasks of a lane and of its group.
func (o *order[T]) runs(l *lane[T], n int) {
	l.running += n
	if g := l.group; g != nil {
		if g.running += n; g.slots >= 0 {
			o.placeAll(g.members, l)
		}
	}
}

// began records when a task of a lane began, by the server's clock; zero: it did not begin.
func (o *order[T]) began(l *lane[T], t *Ticket, at time.Time) {
	counted := t.counted
	if t.counted = false; l.group != nil && l.group.began(counted, at) {
		o.placeAll(l.group.members, nil)
	}
}

// ended records when a task of a lane ended; zero: it never ran.
func (o *order[T]) ended(l *lane[T], t *Ticket, at time.Time) {
	if !at.IsZero() {
		l.ended, l.planned = at, t.Plan
	}
	if t.counted {
		o.began(l, t, at)
	}
}

// hold changes which slots a task holds, and returns which it held.
func (o *order[T]) hold(l *lane[T], t *Ticket, now holding) (before holding) {
	before, t.holds = t.holds, now
	if before == bothSlots {
		o.slots.busy--
	}
	if now == bothSlots {
		o.slots.busy++
	}
	switch {
	case before == noSlots && now != noSlots:
		o.runs(l, +1)
	case before != noSlots && now == noSlots:
		o.runs(l, -1)
	}
	o.place(l)
	return before
}

// handOn gives a task the slots back that it held before the search for the next task, except those
// that pass to the next task: the slot of run, and within the lane also the slot of the lane.
func (o *order[T]) handOn(l *lane[T], t *Ticket, held holding, next T, found bool) {
	switch {
	case found && next.ticket().Lane == t.Lane:
		held = noSlots
		o.countEnd(l)
	case found:
		held = laneSlot
	}
	o.hold(l, t, held)
}
