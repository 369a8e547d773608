package work

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
)

// How often what is looked at, where nothing asks for it sooner.
const (
	reconcile   = 30 * time.Second       // all that is due, where something wakes us
	markAfter   = 100 * time.Millisecond // a run that lasts longer shows WORK
	markTick    = 50 * time.Millisecond
	paceTick    = 50 * time.Millisecond
	lostTick    = 200 * time.Millisecond
	searchTick  = 100 * time.Millisecond
	searchMost  = 10 * time.Millisecond  // of it, or as long as one search takes
	checkTick   = 20 * time.Millisecond  // between two looks for STOP, however many notifications come
	checkLate   = 100 * time.Millisecond // they wait for other news, at most
	clockMargin = 200 * time.Microsecond
	gatherFor   = 3 * time.Millisecond
	gatherStock = 100 // tasks: more than start in that time
)

// sleep waits until there is something to do: a runner's word, a notification, the next plan, the end of a pause, or the time for one
// of the regular looks.
func (l *loop) sleep(ctx context.Context, stop <-chan struct{}) error {
	l.gather(ctx)
	if err := l.fallAsleep(ctx); err != nil {
		return err
	}
	d := l.doze()
	if d <= 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-stop:
			l.drain()
		default:
		}
		return nil
	}
	if !l.look.draining.IsZero() {
		stop = nil
	}
	deaf := l.control.bustle.lasts()
	if deaf {
		d = min(d, boredTick)
	}
	waiting, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	heard := l.crew.Start(func() error {
		if deaf {
			<-waiting.Done()
			return waiting.Err()
		}
		return l.control.conn.PgConn().WaitForNotification(waiting)
	})
	var err error
	select {
	case err = <-heard:
	case <-l.ripens():
		l.ripen()
		cancel()
		err = <-heard
	case <-l.inbox.poke:
		cancel()
		err = <-heard
	case <-l.target.Changes.Poked():
		cancel()
		err = <-heard
	case <-stop:
		cancel()
		err = <-heard
		l.drain()
	}
	if !l.look.draining.IsZero() {
		l.drain()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !pgconn.Timeout(err) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// gather lets ends come together, and room for claims, while runners have enough to go on with: a statement for a few rows costs as much as one for twenty.
func (l *loop) gather(ctx context.Context) {
	if !l.lanes.stocked(gatherStock) || len(l.asks) > 0 || !l.look.draining.IsZero() {
		return
	}
	select {
	case <-time.After(gatherFor):
	case <-l.inbox.asked:
	case <-ctx.Done():
	}
}

// doze is how long there is nothing to do, if nobody wakes us.
func (l *loop) doze() time.Duration {
	if l.control.notified && !l.control.bustle.lasts() || l.lanes.claimable() && !l.clogged() {
		return 0
	}
	d := l.silence()
	sooner := func(other time.Duration) { d = min(d, other) }
	busy, waiting, ready := l.lanes.load()
	if l.scanning.active {
		return 0
	}
	if l.look.wanted || l.control.notified {
		sooner(l.scanDelay())
	}
	if l.awake() {
		sooner(l.vigil.tick() - time.Since(l.look.scan))
	}
	if len(l.unseen.ids) > 0 && l.look.draining.IsZero() {
		sooner(time.Until(l.unseen.next))
	}
	if l.look.later {
		sooner(l.rest(ready) - time.Since(l.look.full))
	}
	if !l.look.next.IsZero() {
		sooner(l.clock.until(l.look.next) + clockMargin)
	}
	if l.foresees() {
		from, _ := l.horizon()
		sooner(l.clock.until(l.look.next) - from + clockMargin)
	}
	if at, ok := l.lanes.wake(); ok {
		sooner(l.clock.until(at) + clockMargin)
	}
	if waiting > 0 || l.unmarked() {
		sooner(markTick)
	}
	if busy > 0 {
		sooner(l.checkDelay())
	}
	if len(l.lost)+len(l.killed)+len(l.orphans)+len(l.asks) > 0 {
		sooner(lostTick)
	}
	for i := range l.unsaid {
		if e := &l.unsaid[i]; !l.waits(e) {
			sooner(time.Until(e.after))
		}
	}
	for _, p := range l.parked {
		if l.look.full.Before(p.until) {
			sooner(time.Until(p.until))
		}
	}
	if len(l.empty) > 0 {
		sooner(time.Second - time.Since(l.look.swept))
	}
	if !l.look.draining.IsZero() && !l.look.cancelled {
		sooner(l.live.Load().Grace - time.Since(l.look.draining))
	}
	sooner(l.every() - time.Since(l.look.full))
	return max(d, 0)
}

// silence is how long the control session may still be silent.
func (l *loop) silence() time.Duration { return time.Until(l.speaks()) }

// speaks is when the control session has to speak next. The beats of all targets fall together, as far as a beatGrid allows: processes that wake up hundreds of times
// a second cost more than what they do then.
func (l *loop) speaks() time.Time {
	return birth.Add(l.look.spoke.Add(beat).Sub(birth).Truncate(beatGrid))
}

// birth is where the grid begins, by the clock that nobody sets.
var birth = time.Now()

// every is how often all that is due is looked at when nothing says that there is something.
func (l *loop) every() time.Duration {
	if l.notified() || l.way == sql.WAL && l.stream.lives() && l.control.table.TellsChanges {
		return min(reconcile, l.target.Reset)
	}
	return min(l.live.Load().Sleep, l.target.Reset)
}

// notified tells whether the table's triggers say all that we have to know.
func (l *loop) notified() bool { return l.way == sql.Notify }

// told tells whether there may be new tasks of which no NOTIFY tells.
func (l *loop) told(now time.Time) bool {
	if l.way == sql.WAL {
		decoded, look := l.stream.news()
		l.unseen.add(decoded)
		return look || len(l.unseen.ids) > 0 && !now.Before(l.unseen.next)
	}
	return l.awake() && now.Sub(l.look.scan) >= l.vigil.tick()
}

// unmarked tells whether a task runs whose row does not show it.
func (l *loop) unmarked() bool {
	for _, t := range l.tasks {
		if !t.marked && !t.ending {
			return true
		}
	}
	return false
}

// pace measures how fast tasks end, which is how far ahead they are claimed: what ends between four looks, so that runners find tasks while the loop has
// hundreds of ends to write, and must share the cores with them.
func (l *loop) pace() {
	passed := time.Since(l.look.pace)
	if passed < paceTick {
		return
	}
	l.look.pace = time.Now()
	l.lanes.pace(min(4*l.count, mostAhead))
	l.count = 0
}

// mostAhead bounds the tasks that are claimed before they can start.
const mostAhead = 3000
