package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
)

// evict ends the sessions of an old leader that run nothing which is marked, and returns how many
// there still were; 0, too, where it did not look.
func (l *loop) evict(ctx context.Context) (ended int64, err error) {
	if l.look.partial { // there may be tasks that are marked and that we do not know
		return 0, nil
	}
	ids := make([]int64, 0, len(l.orphans))
	for id := range l.orphans {
		ids = append(ids, id)
	}
	return l.control.Exec(ctx, "evict", l.runs.Pool.PIDs(), l.target.SessionPrefix(), ids, l.old())
}

// evictMost is how long a new leader waits for the sessions of an old one to go, before it starts
// what those may still be at. Only lanes depend on it: of two runs of a task one alone can write
// its end.
const evictMost = 10 * time.Second

// clear waits until nothing runs that an old leader has started and not marked.
func (l *loop) clear(ctx context.Context) error {
	for began, first := time.Now(), true; ; first = false {
		left, err := l.evict(ctx)
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

// queueStopping looks for tasks that somebody has set to STOP and whose controller has not written
// their end.
func (l *loop) queueStopping(batch *pgx.Batch) {
	l.control.Queue(batch, "stopping").Query(func(rows pgx.Rows) error {
		var id int64
		var group, remote string
		_, err := pgx.ForEachRow(rows, []any{&id, &group, &remote}, func() error {
			l.adopt(id, lane.KeyOf(group, remote))
			return nil
		})
		return err
	})
}

// orphan is a task that is under way, but not by us.
type orphan struct {
	key  lane.Key
	gone time.Time // since when it is known that its backend is: it has no place any more, and its row waits to be written
}

// adopt takes note of a task that is under way, but not by us: an old leader's, or one whose end we
// could not write.
func (l *loop) adopt(id int64, key lane.Key) {
	if l.tasks[id] != nil || l.holds.Refuses(id) {
		return
	}
	if _, known := l.orphans[id]; known {
		return
	}
	l.orphans[id] = &orphan{key: key}
	l.runs.Lanes.Occupy(key, 1)
}

// recoverOrphans looks which of an old leader's tasks have ended by themselves, returns to PLAN
// those that never will, and ends those that were to be stopped.
func (l *loop) recoverOrphans(ctx context.Context) error {
	if len(l.orphans) == 0 {
		return nil
	}
	ids := make([]int64, 0, len(l.orphans))
	for id := range l.orphans {
		if l.tasks[id] != nil { // it waited again, and we have taken it
			l.forsake(id)
			continue
		}
		ids = append(ids, id)
	}
	slices.Sort(ids) // of one key the first one waits again
	if _, err := l.evict(ctx); err != nil {
		return err
	}
	cut, _, err := l.cut(ctx, ids, nil)
	if err != nil {
		return err
	}
	claims := make([]inflight.Claim, len(ids))
	for i, id := range ids {
		claims[i].ID = id
	}
	standings, err := inflight.Standings(ctx, l.control, claims)
	if err != nil {
		return err
	}
	var over, left []int64
	for _, id := range ids {
		if s := standings[id]; cut[id] || l.holds.Refuses(id) || !s.UnderWay() {
			over = append(over, id)
		} else {
			left = append(left, id)
		}
	}
	gone, err := l.withoutBackends(ctx, left)
	if err != nil || len(over)+len(gone) == 0 {
		return err
	}
	// A session that was spared for a row may have started another task before we came: it must
	// be gone before the lane is free.
	if left, err := l.evict(ctx); err != nil || left > 0 {
		return err
	}
	for _, id := range over {
		l.forsake(id)
	}
	for _, id := range gone {
		l.vacate(id)
	}
	if len(gone) == 0 {
		return nil
	}
	return l.changes.TellOfLock(ctx, l.orphans[gone[0]].gone, gone[0], nil)
}

// withoutBackends are those of the orphans whose backends are gone, though their rows do not show
// it yet.
func (l *loop) withoutBackends(ctx context.Context, ids []int64) ([]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return l.control.IDs(ctx, "gone", ids, l.runs.Pool.PIDs())
}

// vacate gives the place of an orphan free.
func (l *loop) vacate(id int64) {
	if o := l.orphans[id]; o.gone.IsZero() {
		l.runs.Lanes.Occupy(o.key, -1)
		o.gone = time.Now()
	}
}

// forsake forgets an orphan.
func (l *loop) forsake(id int64) {
	l.vacate(id)
	delete(l.orphans, id)
	l.panics.Delete(id)
	l.look.wanted = true
}
