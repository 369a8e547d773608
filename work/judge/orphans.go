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

// Orphans are tasks that are under way, but not by us: an old leader's, or tasks whose ends we could
// not write. They count as running in their lanes. They belong to a term.
type Orphans struct {
	*cutter
	all map[int64]*orphan
}

type orphan struct {
	key  lane.Key
	gone time.Time // since when its backend is known to be: it has no slot any more, and its row waits to be written
}

// Adopt takes note of a task that is not ours.
func (o *Orphans) Adopt(id int64, key lane.Key) {
	if !o.Has(id) && !o.Holds.Refuses(id) {
		o.all[id] = &orphan{key: key}
		o.Lanes.Occupy(key, 1)
	}
}

// Has tells whether a task is one.
func (o *Orphans) Has(id int64) bool { return o.all[id] != nil }

// Len is how many there are.
func (o *Orphans) Len() int { return len(o.all) }

// Release forgets all, and gives their slots back.
func (o *Orphans) Release() {
	for id := range o.all {
		o.vacate(id)
		delete(o.all, id)
	}
}

// QueueStopping adds a query to a batch that adopts tasks which were set to STOP while they ran, and show
// no end.
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

// A new leader waits for sessions of an old one to end before it starts anything, as they may still run
// it. Only lanes depend on that: of two runs of a task only one can write its end.
const (
	evictMost = 10 * time.Second
	evictTick = 20 * time.Millisecond
)

// Clear waits until nothing runs that an old leader has started and not marked.
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

// evict ends the sessions of an old leader that run nothing which is marked, and returns how many
// there were; 0, too, where it did not look.
func (o *Orphans) evict(ctx context.Context) (ended int64, err error) {
	if o.Partial() { // there may be tasks that are marked and that we do not know
		return 0, nil
	}
	// An old leader opens no session once it does not lead. The clock's reading may be a little early.
	latest := o.began.Add(time.Second)
	return o.Control.Exec(ctx, "evict", o.PIDs(), o.Prefix, slices.Collect(maps.Keys(o.all)), latest)
}

// judge finds out which of an old leader's tasks have ended by themselves, returns to PLAN those that
// never will, and ends those that were to be stopped.
func (o *Orphans) judge(ctx context.Context) error {
	if len(o.all) == 0 {
		return nil
	}
	for id := range o.all {
		if o.Tasks[id] != nil { // it waited again, and we have taken it
			o.forget(id)
		}
	}
	ids := slices.Sorted(maps.Keys(o.all)) // in order: of one key the first one waits again
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
	var gone []int64 // their backends are, though their rows do not show it yet
	if len(left) > 0 {
		gone, err = o.Control.IDs(ctx, "gone", left, o.PIDs())
	}
	if err != nil || len(over)+len(gone) == 0 {
		return err
	}
	// A session that was spared for a row may have started another task before we came: it must
	// be gone before the lane is free.
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

// standings tells those that are over, and those whose rows are under way still.
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

// vacate gives the slot of one back.
func (o *Orphans) vacate(id int64) {
	if one := o.all[id]; one.gone.IsZero() {
		o.Lanes.Occupy(one.key, -1)
		one.gone = time.Now()
	}
}

// forget forgets one that is over.
func (o *Orphans) forget(id int64) {
	o.vacate(id)
	delete(o.all, id)
	o.Panics.forget(id)
	o.Want()
}
