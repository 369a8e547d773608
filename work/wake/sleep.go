package wake

import (
	"context"
	"time"

	"pgtaskd/sql"
)

// A leader that sleeps holds a lock alone; those who insert tasks see that, and wake it by NOTIFY.
// Commits that NOTIFY wait for each other in the whole server. So when tasks come in fast the
// leader stays awake: it gives the lock up, looks for tasks by itself, and spares those who insert
// the NOTIFY. They share the lock until they have committed. Before the leader sleeps it tries to
// take the lock alone, without waiting for it: once it has it, all that it was not told of is
// committed, and it looks once more. Until then it stays awake.
const (
	crowd      = 20                     // so many NOTIFYs within crowdTick keep the leader awake
	crowdTick  = 100 * time.Millisecond // and for so long at least
	awakeTick  = 5 * time.Millisecond   // between two looks of a leader that is awake
	boredTick  = 50 * time.Millisecond  // the same at most, when nothing is due
	boredShare = 50                     // the part that it waits of the time for which nothing was due
	boredTries = 5                      // looks, at least, between two tries to fall asleep

	// queueMost is the part of the server's queue of notifications that may be full. A session that
	// listens and does not read fills it, and when it is full every NOTIFY fails: from 0.9 on triggers
	// leave it out, which is long after the leader has begun to look by itself.
	queueMost = 0.5
)

// sleep is what the leader knows of its sleep. It begins awake.
type sleep struct {
	asleep bool
	queue  float64   // how full the server's queue of notifications is
	tried  time.Time // to fall asleep, or has woken up
	found  time.Time // when something was due, asleep or not
}

// tick is the time between two looks. It does not begin anew with a sleep: those who insert tasks for
// later wake the leader whenever it has fallen asleep between two of their commits.
func (s *sleep) tick() time.Duration {
	return min(max(time.Since(s.found)/boredShare, awakeTick), boredTick)
}

// Awake tells whether the leader looks for new tasks by itself all the time, though NOTIFY is
// possible.
func (w *Waker) Awake() bool { return w.source.way == sql.Notify && !w.sleep.asleep }

// full tells that notifications may be left out, as the server's queue is nearly full.
func (s *sleep) full() bool { return s.queue >= queueMost }

// Full tells that the server's queue of notifications may have no room for more.
func (w *Waker) Full() bool { return w.sleep.full() }

// QueueIs takes in how full the server's queue of notifications is: from 0 to 1.
func (w *Waker) QueueIs(full float64) { w.sleep.queue = full }

// FallAsleep does so where NOTIFY is the way, or wakes up, or leaves it as it is. After it has
// fallen asleep, the leader must look at all that is due once more.
func (w *Waker) FallAsleep(ctx context.Context) (fell bool, err error) {
	s := &w.sleep
	switch {
	case w.source.way != sql.Notify:
		return false, nil
	case s.asleep && !w.Notices.flood.lasts() && !s.full():
		return false, nil
	case s.asleep:
		return false, w.WakeUp(ctx)
	case time.Since(s.tried) < max(crowdTick, boredTries*s.tick()), s.full():
		return false, nil
	}
	s.tried = time.Now()
	if err = w.Control.Row(ctx, "asleep", []any{w.source.waking.Lock}, &s.asleep); s.asleep {
		w.Notices.flood = flood{}
	}
	return s.asleep, err
}

// WakeUp gives up the lock of the leader's sleep, if it sleeps.
func (w *Waker) WakeUp(ctx context.Context) error {
	if !w.sleep.asleep {
		return nil
	}
	w.sleep.asleep, w.sleep.tried = false, time.Now()
	return w.Control.Row(ctx, "awake", []any{w.source.waking.Lock}, new(bool))
}
