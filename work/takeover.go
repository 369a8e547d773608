package work

import (
	"context"
	"time"
)

// evict ends the sessions of an old leader that run nothing which is marked, and returns how many
// there still were.
func (l *loop) evict(ctx context.Context) (ended int64, err error) {
	if l.look.partial { // there may be tasks that are marked and that we do not know
		return 0, nil
	}
	ids := make([]int64, 0, len(l.orphans))
	for id := range l.orphans {
		ids = append(ids, id)
	}
	done, err := l.control.conn.Exec(ctx, l.queries().Text("evict"), l.Pool.PIDs(), sessionPrefix(l.target), ids, l.old())
	return done.RowsAffected(), err
}

// evictMost is how long a new leader waits for the sessions of an old one to go, before it starts
// what those may still be at. Only lanes depend on it: of two runs of a task one alone can write
// its end.
const evictMost = 10 * time.Second

// clear waits until nothing runs that an old leader has started and not marked.
func (l *loop) clear(ctx context.Context) error {
	for began, first := time.Now(), true; ; first = false {
		limit, cancel := limited(ctx)
		left, err := l.evict(limit)
		cancel()
		if err != nil || left == 0 {
			return err
		}
		if first {
			l.log.Warn().Int64("sessions", left).Msg("ending sessions of a previous leader")
		}
		if time.Since(began) >= evictMost {
			l.log.Error().Int64("sessions", left).Msg("sessions of a previous leader do not end; starting tasks all the same")
			return nil
		}
		select {
		case <-time.After(checkTick):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
