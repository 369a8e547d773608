package work

import (
	"context"
	"slices"
	"time"
)

// A task that is to be marked first waits for what somebody has locked with its place in run and
// its session, but not for long, and beside many others less long: then others have its place.
const (
	markPatience = time.Second
	markCrowded  = 200 * time.Millisecond // the first time; then checkTick
	markTried    = 10 * time.Second       // until it is tried by itself
	markShare    = 4                      // part of run that waits like that at most
	markAway     = 2 * time.Second
	markAwayMost = 20 * time.Second
)

// away is how long a task waits at least without a place: where many do, not more come back in that
// time than that part of run has places for, each for checkTick.
func (l *loop) away() time.Duration {
	places := max(l.live.Load().Run/markShare, 1)
	return max(markAway, time.Duration(len(l.locks.marks.barred)/places)*checkTick)
}

// giveBack sees to it that tasks wait without a place whose marks have met a lock.
func (l *loop) giveBack(ctx context.Context) (err error) {
	waiting := 0
	slices.SortStableFunc(l.asks, byTurn) // who is in turn keeps its place
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		if a.kind != askMark || a.since.IsZero() {
			return false
		}
		k, id := &l.locks.marks, a.task.Row.ID
		b := k.barred[id]
		patience := markPatience
		switch crowded := waiting >= max(l.live.Load().Run/markShare, 1); {
		case crowded && b.pause > 0:
			patience = checkTick
		case crowded:
			patience = markCrowded
		case b.pause > 0 && !a.tried: // it may have met the lock of another one
			patience = markTried
		}
		if time.Since(a.since) < patience {
			waiting++
			return false
		}
		if b.pause == 0 {
			b.since = a.since
		}
		if b.pause = max(min(2*b.pause, markAwayMost), l.away()); !a.tried {
			b.pause = markAway
		}
		b.alone, b.after = b.alone || a.tried, a.after
		k.note(id, b)
		l.parked[id] = parked{until: time.Now().Add(b.pause)}
		if untold := l.tellOfLock(ctx, b.since, id, a.task.Row.Key); err == nil {
			err = untold
		}
		a.answer <- answer{}
		return true
	})
	return err
}

// unbar takes note that the mark of a task could be set. If it had met a lock, that is gone, and
// others may have waited for the same.
func (l *loop) unbar(id int64) {
	k := &l.locks.marks
	met := k.barred[id].alone
	if delete(k.barred, id); !met {
		return
	}
	for other := range k.barred {
		delete(l.parked, other)
	}
	l.look.wanted = true
}
