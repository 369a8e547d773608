package work

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
)

// Changes of ours that may meet what another transaction has locked wait for it briefly: a key that
// somebody inserts and does not commit, a row that a trigger of the table's changes. What met a
// lock alone is tried again after a pause that grows; nothing else waits for it.
const (
	briefly     = "BEGIN; SET LOCAL lock_timeout = '20ms'"
	lockShare   = 14                     // such waits of all kinds take less than half of the loop's time
	lockedTold  = 500 * time.Millisecond // the age from which on it is told who may have the lock
	lockedAgain = time.Minute            // how long no other is told of then
)

// brief runs a transaction of the control session that waits for locks briefly. Where that draws an
// id that is taken, it is run again: it must bear that. What may notify somebody, or draw an id, runs
// in one: where there is no room for that, it says so.
func (l *loop) brief(ctx context.Context, do func(pgx.Tx) error) error {
	err := l.control.Transaction(ctx, briefly, do)
	switch {
	case fault.Of(err) == fault.QueueFull:
		l.queueFull(err.Error())
	case fault.Of(err).Lacks():
		l.lacking(err)
	}
	return err
}

// locks is how changes of one kind fare that the table may refuse, or somebody's lock may hold up: so
// none keeps another from its turn.
type locks struct {
	most  int       // most rows that are changed in one statement, since one of more has failed; 0: as many as may be
	until time.Time // nothing that met a lock, or is slow, is tried until then
}

// lockeds are those of ends, and of what is changed without a run of ours.
type lockeds struct{ ends, others locks }

// rests tells that nothing is tried now that met a lock.
func (k *locks) rests() bool { return time.Now().Before(k.until) }

// rest has what met a lock wait, and what is slow, since another that has begun then was.
func (k *locks) rest(began time.Time) { k.until = time.Now().Add(lockShare * time.Since(began)) }

// late tells that the rest of a change that has begun then is left for the next time, as others come
// in between.
func (k *locks) late(began time.Time) bool {
	return (k.most > 0 || k.rests()) && time.Since(began) >= dutyPart
}

// took takes note of a change of n rows that has begun then. There may be many more rows that fail:
// so the next changes are of fewer, until some have gone well.
func (k *locks) took(n int, began time.Time, err error) {
	if fault.Of(err) == fault.Locked {
		k.rest(began)
	}
	switch {
	case n > 1 && fault.Of(err).OfRow():
		k.most = max(n/partsMost, 1)
	case err == nil && k.most > 0:
		if k.most *= 2; k.most >= batchMost {
			k.most = 0
		}
	}
}

// batch is how many of n rows are changed in the next statement.
func (k *locks) batch(n int) int { return min(n, cmp.Or(k.most, batchMost)) }

// eachWithWords is each, for what writes words of ours into the rows: one that refuses them is
// changed without. One that another transaction is in the way of is parked. It returns those for
// which the time of a duty does not suffice.
func (l *loop) eachWithWords(
	ctx context.Context, ids []int64, do func(ctx context.Context, ids []int64, mute bool) error,
) (left []int64, err error) {
	k, began := &l.locks.others, time.Now()
	ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool {
		p, met := l.parked[id]
		return met && (k.rests() || began.Before(p.until))
	})
	slices.SortStableFunc(ids, func(a, b int64) int { // so that each has its turn
		return l.parked[a].until.Compare(l.parked[b].until)
	})
	for len(ids) > 0 && !k.late(began) {
		some := ids[:k.batch(len(ids))]
		if err := l.each(ctx, some, func(ctx context.Context, ids []int64) error {
			if k.late(began) {
				left = append(left, ids...)
				return nil
			}
			tried := time.Now()
			err := do(ctx, ids, false)
			if len(ids) == 1 && fault.Of(err).OfRow() && fault.Of(err) != fault.Slow && !fault.Of(err).Passing() {
				err = do(ctx, ids, true)
			}
			if k.took(len(ids), tried, err); len(ids) == 1 && fault.Of(err).Passing() {
				l.park(ids)
			}
			if len(ids) == 1 && fault.Of(err) == fault.Locked {
				return cmp.Or(l.tellOfLock(ctx, tried.Add(-l.parked[ids[0]].wait), ids[0], nil), err)
			}
			return err
		}); err != nil {
			return nil, err
		}
		ids = ids[len(some):]
	}
	return append(left, ids...), nil
}

// tellOfLock logs, once in a while, who may have locked what a change of a task's row waits for,
// unless that has not lasted since then.
func (l *loop) tellOfLock(ctx context.Context, since time.Time, id int64, key *string) error {
	if time.Since(since) < lockedTold || !l.log.Once("lock", lockedAgain) {
		return nil
	}
	writers, err := sql.Holders(ctx, l.control.Conn(), l.target.Relation(), true)
	if err != nil && !fault.Of(err).OfRow() {
		return err
	}
	line := l.log.Warn().Int64("id", id)
	if key != nil {
		line = line.Str("key", *key)
	}
	if len(writers) > 0 {
		line = line.Strs("open", writers)
	}
	line.Msg("an open transaction keeps a task's row from being changed; trying again")
	return nil
}
