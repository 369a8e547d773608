package work

import (
	"context"
	"time"

	"pgtaskd/sql"
)

// While the leader sleeps it alone holds a lock, and who inserts tasks sees that and wakes it by NOTIFY. Commits that NOTIFY wait for each
// other in the whole server. So when tasks come in fast the leader stays awake: it gives the lock up, looks for tasks by itself, and spares
// those who insert the NOTIFY. They share the lock until they have committed. Before the leader sleeps it tries to have the lock alone again,
// without waiting for it: when it gets it, all that it was not told of is committed, and it looks once more; until then it stays awake.
const (
	crowd      = 20                     // so many NOTIFYs within crowdTick keep the leader awake
	crowdTick  = 100 * time.Millisecond // and for so long at least
	awakeTick  = 5 * time.Millisecond   // between two looks of a leader that is awake
	boredTick  = 50 * time.Millisecond  // the same at most, where it finds nothing: tasks for later come in, or a transaction stays open
	boredShare = 50                     // the part that it waits of the time for which it has found nothing
	boredTries = 5                      // looks, at least, between two tries to fall asleep
	queueMost  = 0.5                    // of the server's queue: a session that listens and does not read fills it, and when it is full whoever has to NOTIFY fails
)

// vigil is what the leader knows of its sleep. It begins awake.
type vigil struct {
	asleep  bool
	queue   float64   // how full the server's queue of notifications is
	tried   time.Time // to fall asleep
	found   time.Time // when something was due, asleep or not
	counted time.Time // since when the NOTIFYs have been counted
}

// tick is the time between two looks.
func (v *vigil) tick() time.Duration {
	return min(max(time.Since(v.found)/boredShare, awakeTick), boredTick)
}

// stays and sleeps keep when something was found: those who insert tasks for later wake it whenever it has fallen asleep between two of their commits.
func (v *vigil) stays(now time.Time) { *v = vigil{tried: now, found: v.found, queue: v.queue} }

func (v *vigil) sleeps(now time.Time) {
	*v = vigil{asleep: true, counted: now, found: v.found, queue: v.queue}
}

// bustle tells whether notifications come so fast that they say nothing any more: anybody who can connect may send them. Then they are not waited for, and what
// they ask for is done no more often than by a leader that is awake; they are read when a statement is answered.
type bustle struct {
	since time.Time
	count int
}

func (b *bustle) hear(now time.Time) {
	if now.Sub(b.since) >= crowdTick {
		b.since, b.count = now, 0
	}
	b.count++
}

func (b *bustle) lasts() bool { return b.count >= crowd && time.Since(b.since) < 2*crowdTick }

// scanDelay is how long a scan that is wanted has to wait: looking only for what is new is always possible.
func (l *loop) scanDelay() time.Duration {
	tick := checkTick / 10
	if l.control.bustle.lasts() {
		tick = l.vigil.tick()
	}
	return tick - time.Since(l.look.scan)
}

// fallAsleep does so, or decides to stay awake. After it has fallen asleep all must be looked at once more.
func (l *loop) fallAsleep(ctx context.Context) error {
	v, now := &l.vigil, time.Now()
	switch {
	case !l.notified() || !l.look.draining.IsZero():
		return nil
	case v.asleep:
		heard := l.control.heard
		if now.Sub(v.counted) >= crowdTick {
			v.counted, l.control.heard = now, 0
		}
		if heard < crowd && v.queue < queueMost {
			return nil
		}
		v.stays(now)
		_, err := l.holds(ctx, "awake", l.control.table.Waking)
		return err
	case now.Sub(v.tried) < max(crowdTick, boredTries*v.tick()), v.queue >= queueMost:
		return nil
	}
	v.tried = now
	held, err := l.holds(ctx, "asleep", l.control.table.Waking)
	if held {
		v.sleeps(now)
		l.control.heard = 0
		l.look.wanted = true
	}
	return err
}

// holds runs a query about a lock under which the leader sleeps.
func (l *loop) holds(ctx context.Context, query string, waking sql.Waking) (done bool, err error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	err = l.control.conn.QueryRow(ctx, l.queries().Text(query), waking.Lock).Scan(&done)
	return done, err
}

// awake tells whether new tasks are looked for all the time, and not told of.
func (l *loop) awake() bool { return l.notified() && !l.vigil.asleep && l.look.draining.IsZero() }
