package work

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/sql"
	"pgtaskd/work/run"
)

// Changes of ours that may meet what another transaction has locked wait for it briefly: a key that
// somebody inserts and does not commit, a row that a trigger of the table's changes. What met a
// lock is set aside, and tried again after a pause that grows; nothing else waits for it.
const (
	briefly     = "BEGIN; SET LOCAL lock_timeout = '20ms'"
	briefAgain  = "BEGIN; SET LOCAL lock_timeout = '5ms'" // of what has met one alone: it is only looked whether that is gone
	briefWait   = 20 * time.Millisecond
	lockShare   = 14 // such waits of all kinds take less than half of the loop's time
	barredFirst = 50 * time.Millisecond
	barredMost  = 5 * time.Second
	lockedMany  = 8 // what met a lock together is tried again by such parts
	barredIDs   = 10_000
	lockedTold  = 500 * time.Millisecond // the age from which on it is told who may have the lock
	lockedAgain = time.Minute            // how long no other is told of then
)

// locks is what is known of the locks that changes of ours have met, of one kind: so none keeps
// another from its turn.
type locks struct {
	together int              // most rows that are changed in one statement, of those that met a lock; 0: as many as may be
	atOnce   int              // the same of all, as what follows on them is much, or slow
	refused  int              // the same, as the table has refused some; 0: as many as may be
	well     int              // how often in a row it has refused none since
	until    time.Time        // nothing that met a lock is tried until then
	barred   map[int64]barred // tasks that met one alone, which have no end of ours
	newest   bool             // the next one that is tried is the one that met a lock last
}

// lockeds are the locks that each duty has met: none keeps another from its turn.
type lockeds struct{ ends, marks, cut, halt, expire, plan, giveUp locks }

// barred is how long a change waits that met a lock.
type barred struct {
	pause time.Duration // 0: it met none
	since time.Time     // when it met the first
	after time.Time     // of the next try
	alone bool          // it met one where nothing else was changed
}

// longer is a pause after one more lock. What met it with others knows only that one of them did.
func (b barred) longer(alone bool) barred {
	if b.pause == 0 {
		b.since = time.Now()
	}
	if alone {
		b.alone = true
		b.pause = min(max(2*b.pause, barredFirst), barredMost)
	} else {
		b.pause = max(b.pause, barredFirst)
	}
	b.after = time.Now().Add(b.pause)
	return b
}

// isLocked tells the error of a change that has waited for a lock in vain.
func isLocked(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == "55P03" && isOfLocks(answer)
}

// rest is how long nothing is tried that met a lock.
func (k *locks) rest() time.Duration { return time.Until(k.until) }

// most is how many of those that met a lock are changed in one statement, n at most.
func (k *locks) most(n int) int {
	if k.together == 0 {
		return k.mostOfAll(n)
	}
	return min(k.mostOfAll(n), k.together)
}

// mostOfAll is the same of those that met none.
func (k *locks) mostOfAll(n int) int {
	return min(n, cmp.Or(k.atOnce, n), cmp.Or(k.refused, n))
}

// late tells that the rest of a change that has begun then is left for the next time, as others come
// in between.
func (k *locks) late(began time.Time) bool {
	return (k.atOnce > 0 || k.refused > 0) && time.Since(began) >= dutyPart
}

// took takes note of a change of n rows, which has taken so long: the next one is of fewer where
// too much follows on it, and of more where it went well.
func (k *locks) took(n int, took time.Duration, err error) {
	const few = batchMost / 8 // where each is slow, or the machine is busy
	k.refuses(n, err)
	switch {
	case isTooMuch(err), isSlow(err):
		k.atOnce = max(n/2, 1)
	case err != nil:
	case took > dutyPart && n > few:
		k.atOnce = max(n/2, few)
	case k.atOnce > 0 && took <= 4*dutyPart: // a commit may take its time
		if k.atOnce *= 2; k.atOnce >= batchMost {
			k.atOnce = 0
		}
	}
}

// met takes note of a lock that a change of n rows has met, after so long.
func (k *locks) met(n int, took time.Duration) {
	k.until = time.Now().Add(lockShare * took)
	if n > 1 {
		k.together = max(n/lockedMany, 1)
	}
}

// note takes note of a task that has met a lock alone.
func (k *locks) note(id int64, b barred) {
	if k.barred == nil || len(k.barred) >= barredIDs {
		k.barred = map[int64]barred{}
	}
	k.barred[id] = b
}

// missed takes note of a change of what met a lock before, which has met none.
func (k *locks) missed() {
	if k.together *= 2; k.together >= batchMost {
		k.together = 0
	}
}

// setAside keeps ends whose write has met a lock for a later try.
func (l *loop) setAside(ctx context.Context, ends []end, took time.Duration) error {
	k := &l.locks.ends
	k.met(len(ends), took)
	k.newest = !k.newest
	for i := range ends {
		ends[i].barred = ends[i].barred.longer(len(ends) == 1)
		l.relieve(&ends[i])
		l.keep(ends[i])
	}
	if len(ends) > 1 {
		return nil
	}
	return l.tellOfLock(ctx, ends[0].barred.since, ends[0].task.Row.ID, ends[0].task.Row.Key)
}

// due is when an end is to be written.
func (l *loop) due(e *end) time.Time {
	due := e.after
	if e.task.TooLong && l.aside.rest.After(due) {
		due = l.aside.rest
	}
	if e.barred.pause == 0 {
		return due
	}
	for _, other := range []time.Time{e.barred.after, l.locks.ends.until} {
		if other.After(due) {
			due = other
		}
	}
	return due
}

// togetherMost is how many ends are written in one statement that has both.
func (l *loop) togetherMost(a, b *end) int {
	switch {
	case a.kind != b.kind || a.task.TooLong || b.task.TooLong || (a.barred.pause > 0) != (b.barred.pause > 0):
		return 1
	case a.barred.pause == 0 && (a.kind == run.Refused || a.kind == run.Released): // on which nothing follows
		return batchMost
	case a.barred.pause == 0:
		return l.locks.ends.mostOfAll(batchMost)
	case a.barred.alone || b.barred.alone:
		return 1
	}
	return l.locks.ends.most(batchMost)
}

// eachUnlocked is each, of what has not met a lock, or may be tried again. Where much follows it
// returns those for which the time of a duty does not suffice.
func (l *loop) eachUnlocked(ctx context.Context, k *locks, ids []int64, do func(context.Context, []int64) error) (left []int64, err error) {
	now := time.Now()
	late := func() bool { return k.late(now) }
	if len(k.barred) > 0 {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return now.Before(k.barred[id].after) })
		slices.SortStableFunc(ids, func(a, b int64) int { return k.barred[a].after.Compare(k.barred[b].after) }) // so that each has its turn
	}
	for len(ids) > 0 && k.rest() <= 0 && !late() {
		n := k.most(len(ids))
		if err := l.each(ctx, ids[:n], func(ctx context.Context, ids []int64) error {
			switch {
			case k.rest() > 0:
				return nil // another half has met a lock
			case late():
				left = append(left, ids...)
				return nil
			}
			began := time.Now()
			err := do(ctx, ids)
			k.took(len(ids), time.Since(began), err)
			if untold := l.locked(ctx, k, ids, err, time.Since(began)); untold != nil {
				return untold
			}
			return err
		}); err != nil {
			return nil, err
		}
		ids = ids[n:]
	}
	if k.rest() > 0 {
		return nil, nil
	}
	return append(left, ids...), nil
}

// locked takes note of what a change of rows has met.
func (l *loop) locked(ctx context.Context, k *locks, ids []int64, err error, took time.Duration) error {
	switch {
	case err == nil && k.together > 0:
		k.missed()
		for _, id := range ids {
			delete(k.barred, id)
		}
	case isLocked(err):
		if k.met(len(ids), took); len(ids) > 1 {
			return nil
		}
		k.note(ids[0], k.barred[ids[0]].longer(true))
		return l.tellOfLock(ctx, k.barred[ids[0]].since, ids[0], nil)
	}
	return nil
}

// tellOfRows is tellOfLock, for the first of the rows that somebody has locked.
func (l *loop) tellOfRows(ctx context.Context, ids []int64, since func(int64) time.Time) error {
	old := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !l.toTell(since(id)) })
	free, err := l.unlocked(ctx, old)
	if err != nil {
		return err
	}
	for _, id := range old {
		if !free[id] {
			return l.tellOfLock(ctx, since(id), id, nil)
		}
	}
	return nil
}

// toTell tells whether a lock that has lasted since then is to be told of now.
func (l *loop) toTell(since time.Time) bool {
	return time.Since(since) >= lockedTold && time.Since(l.lockTold) >= lockedAgain
}

// tellOfLock logs, once in a while, who may have locked what a change of a task's row waits for,
// unless that has not lasted since then.
func (l *loop) tellOfLock(ctx context.Context, since time.Time, id int64, key *string) error {
	if !l.toTell(since) {
		return nil
	}
	l.lockTold = time.Now()
	writers, err := sql.Holders(ctx, l.control.conn, table(l.target), true)
	if err != nil && !refusedByServer(err) {
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
