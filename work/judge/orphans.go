package judge

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
)

// Orphans has tasks that are under way, but not run by us: an old leader's tasks, and tasks whose
// ends we could not write. They count as running in their lanes. Orphans belongs to a term.
type Orphans struct {
	*cutter
	all map[int64]*orphan
}

type orphan struct {
	key  lane.Key
	gone time.Time // when its backend was seen to be gone: it has no slot any more, but its row is not written yet
}

// Adopt adds a task that we do not run.
func (o *Orphans) Adopt(id int64, key lane.Key) {
	if o.all[id] == nil && !o.Holds.Refuses(id) {
		o.all[id] = &orphan{key: key}
		o.Runs.Lanes.Occupy(key, 1)
	}
}

// Len returns the number of orphans.
func (o *Orphans) Len() int { return len(o.all) }

// Release forgets all orphans, and gives their slots back.
func (o *Orphans) Release() {
	for id := range o.all {
		o.vacate(id)
		delete(o.all, id)
	}
}

// QueueStopping adds a query to a batch. The query adopts tasks that were set to STOP while they
// ran and that show no end.
func (o *Orphans) QueueStopping(batch *pgx.Batch) {
	o.Control.Queue(batch, "stopping").Query(func(rows pgx.Rows) error {
		var id int64
		var group, remote string
		_, err := pgx.ForEachRow(rows, []any{&id, &group, &remote}, func() error {
			if o.Tasks[id] == nil {
				o.Adopt(id, lane.KeyOf(group, remote))
			}
			return nil
		})
		return err
	})
}

// A new leader waits until the sessions of an old one have ended before it starts a task: they may
// still run that task. Only lanes need this: only one of two runs of a task can write its end.
const (
	evictMost = 10 * time.Second
	evictTick = 20 * time.Millisecond
)

// Clear waits, evictMost at most, until no session runs an unmarked task of an old leader.
func (o *Orphans) Clear(ctx context.Context) error {
	for began, first := time.Now(), true; ; first = false {
		left, err := o.evict(ctx)
		if err != nil || left == 0 {
			return err
		}
		if first {
			o.Log.Warn().Int64("sessions", left).Msg("ending sessions of a previous leader")
		}
		if time.Since(began) >= evictMost {
			o.Log.Error().Int64("sessions", left).Msg("sessions of a previous leader do not end; starting tasks all the same")
			return nil
		}
		select {
		case <-time.After(evictTick):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// evict ends the sessions of an old leader that run no marked task. It returns how many there were;
// also 0 if it did not look.
func (o *Orphans) evict(ctx context.Context) (ended int64, err error) {
	if o.Partial() { // there may be marked tasks that we do not know
		return 0, nil
	}
	// An old leader opens no session after it stops leading. The time began may be a little early.
	latest := o.began.Add(time.Second)
	return o.Control.Exec(ctx, "evict", o.Runs.Pool.PIDs(), o.Prefix, slices.Collect(maps.Keys(o.all)), latest)
}

// judge finds out which of an old leader's tasks have ended by themselves. It returns to PLAN the
// tasks that never will, and ends those that were stopped.
func (o *Orphans) judge(ctx context.Context) error {
	if len(o.all) == 0 {
		return nil
	}
	for id := range o.all {
		if o.Tasks[id] != nil { // it waited again, and now it is ours
			o.forget(id)
		}
	}
	ids := slices.Sorted(maps.Keys(o.all)) // sorted: if several tasks have one key, the first waits again
	if _, err := o.evict(ctx); err != nil {
		return err
	}
	cut, _, err := o.cut(ctx, ids, nil)
	if err != nil {
		return err
	}
	over, left, err := o.standings(ctx, ids, cut)
	if err != nil {
		return err
	}
	var gone []int64 // backends gone, rows not yet written
	if len(left) > 0 {
		gone, err = o.Control.IDs(ctx, "gone", left, o.Runs.Pool.PIDs())
	}
	if err != nil || len(over)+len(gone) == 0 {
		return err
	}
	// A session that evict spared for a row may have started another task before we came: it must
	// end before the lane is free.
	if left, err := o.evict(ctx); err != nil || left > 0 {
		return err
	}
	for _, id := range over {
		o.forget(id)
	}
	for _, id := range gone {
		o.vacate(id)
	}
	if len(gone) == 0 {
		return nil
	}
	return o.Changes.TellOfLock(ctx, o.all[gone[0]].gone, gone[0], nil)
}

// standings returns the tasks that are over, and those whose rows are still under way.
func (o *Orphans) standings(ctx context.Context, ids []int64, cut map[int64]bool) (over, left []int64, err error) {
	claims := make([]inflight.Claim, len(ids))
	for i, id := range ids {
		claims[i].ID = id
	}
	standings, err := inflight.Standings(ctx, o.Control, claims)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		if s := standings[id]; cut[id] || o.Holds.Refuses(id) || !s.UnderWay() {
			over = append(over, id)
		} else {
			left = append(left, id)
		}
	}
	return over, left, nil
}

// vacate gives an orphan's slot back.
func (o *Orphans) vacate(id int64) {
	if one := o.all[id]; one.gone.IsZero() {
		o.Runs.Lanes.Occupy(one.key, -1)
		one.gone = time.Now()
	}
}

// forget forgets an orphan that is over.
func (o *Orphans) forget(id int64) {
	o.vacate(id)
	delete(o.all, id)
	o.Panics.forget(id)
	o.Changes.Want()
}
