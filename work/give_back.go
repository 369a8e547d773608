package work

import (
	"context"
	"slices"
	"time"
)

// A task that is to be marked first waits for what somebody has locked with its place in run and
// its session, but not for long, and few do at once: then others have its place.
const (
	markPatience = time.Second
	markShare    = 4 // part of run that waits like that at most
	markAway     = 5 * time.Second
)

// giveBack has tasks wait without a place whose marks have met a lock.
func (l *loop) giveBack(ctx context.Context) (err error) {
	places := max(l.live.Load().Run/markShare, 1)
	l.asks = slices.DeleteFunc(l.asks, func(a ask) bool {
		if a.kind != askMark || a.since.IsZero() {
			return false
		}
		if places--; places >= 0 && time.Since(a.since) < markPatience {
			return false
		}
		l.parked[a.task.Row.ID] = parked{until: time.Now().Add(markAway)}
		if untold := l.tellOfLock(ctx, a.since, a.task.Row.ID, a.task.Row.Key); err == nil {
			err = untold
		}
		a.answer <- answer{}
		return true
	})
	return err
}
