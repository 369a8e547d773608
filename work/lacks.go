package work

import (
	"context"
	"maps"
	"time"
)

// What follows on a task may have no partition in which to go, as somebody has forgotten to make it,
// or as the task asks for one that nobody ever makes: whoever inserts says how often it repeats
// itself. So only some wait, without a place of run, and hardly anything is tried until the
// partitions of the table have changed. The rest ends without what follows.

// lacks are the tasks that wait for a partition.
type lacks struct {
	most    int            // how many may wait
	waiting map[int64]lack // by id
	size    int            // bytes that their ends keep in memory, about
	parts   string         // what changes with the partitions, as the last look found it; "": there was none
	looked  time.Time
	swept   time.Time // those that nobody has seen for long were forgotten
}

// lack is one of them.
type lack struct {
	size int       // bytes of its end; 0: its row says what there is
	met  time.Time // when the partition was missed last
}

const (
	lacksMost  = 1000
	lacksSize  = 16 << 20
	lacksTick  = time.Second      // between two looks at the partitions, as long as any wait
	lacksAgain = 10 * time.Minute // until each is tried again all the same: the plan of what follows moves with time
)

func newLacks() lacks { return lacks{most: lacksMost, waiting: map[int64]lack{}} }

// take has a task wait; false when there is no room.
func (k *lacks) take(id int64, size int) bool {
	was, known := k.waiting[id]
	if !known && len(k.waiting) >= k.most && time.Since(k.swept) > lacksAgain {
		k.swept = time.Now()
		for id, one := range maps.Clone(k.waiting) {
			if time.Since(one.met) > 3*lacksAgain { // somebody has deleted or stopped it
				k.drop(id)
			}
		}
	}
	if !known && len(k.waiting) >= k.most || k.size-was.size+size > lacksSize {
		k.drop(id)
		return false
	}
	k.size += size - was.size
	k.waiting[id] = lack{size, time.Now()}
	return true
}

// drop takes note that a task waits no more.
func (k *lacks) drop(id int64) {
	k.size -= k.waiting[id].size
	delete(k.waiting, id)
}

// mayWait tells whether what has met the error waits until the table has what it lacks, where
// nothing of it is kept in memory.
func (l *loop) mayWait(id int64, err error) bool {
	return isLack(err) && (!isPartless(err) || l.lacks.take(id, 0))
}

// waitsForLack has an end wait until the table has what it lacks; false when it is to be written
// without what follows.
func (l *loop) waitsForLack(e *end, err error) bool {
	l.lacking(err)
	if !isPartless(err) {
		e.later(exhaustedMost)
		l.keep(*e)
		return true
	}
	if !l.lacks.take(e.task.Row.ID, e.memory()) {
		return false
	}
	e.lacks, e.wait, e.after = true, lacksAgain, time.Now().Add(lacksAgain)
	l.keep(*e)
	return true
}

func (l *loop) nextPartition() time.Duration {
	if len(l.lacks.waiting) == 0 {
		return never
	}
	return lacksTick - time.Since(l.lacks.looked)
}

// seekPartition has all be tried that wait for a partition when there are others than before: one
// look for all of them, as only the owner of the table changes these.
func (l *loop) seekPartition(ctx context.Context) error {
	k := &l.lacks
	if len(k.waiting) == 0 {
		k.parts = ""
		return nil
	}
	if l.nextPartition() > 0 {
		return nil
	}
	k.looked = time.Now()
	ctx, cancel := limited(ctx)
	defer cancel()
	before := k.parts
	err := l.control.conn.QueryRow(ctx, l.queries().Text("partitions"), l.control.table.OID).Scan(&k.parts)
	switch {
	case err != nil:
		return err
	case before == k.parts:
		return l.retryChanged(ctx)
	}
	for i := range l.aside.ends { // the first look may come after the change
		if e := &l.aside.ends[i]; e.lacks {
			e.after, l.aside.next = time.Time{}, time.Time{}
		}
	}
	for id := range k.waiting {
		delete(l.parked, id)
	}
	l.look.wanted = true
	return nil
}

// retryChanged has ends be tried that wait for a partition and whose rows somebody has changed since:
// the task was stopped, or nothing is to follow on it any more.
func (l *loop) retryChanged(ctx context.Context) error {
	var ids []int64
	var waiting []end
	for _, e := range l.aside.ends {
		if e.lacks {
			ids, waiting = append(ids, e.task.Row.ID), append(waiting, e)
		}
	}
	rows, err := l.standings(ctx, ids, ofEnds(waiting))
	if err != nil {
		return err
	}
	for i := range l.aside.ends {
		e := &l.aside.ends[i]
		if !e.lacks {
			continue
		}
		s := rows[e.task.Row.ID]
		if s.version != e.version && (e.version != 0 || !s.ours(e.task, e.PID)) {
			e.after, l.aside.next = time.Time{}, time.Time{}
		}
		e.version = s.version
	}
	return nil
}
