package work

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/lane"
)

// A task that is to run after others waits for one of them at a time, which its row names. The loop
// knows which tasks are waited for, and when one of those ends it looks at some of its successors:
// no more of them than may start soon. What it has not heard of, it finds when it looks at all that
// is waited for (awaited.go).

const (
	endedMost   = 100                   // ended tasks whose successors are looked at together
	stockMost   = 1000                  // tasks that are due; where there are more, successors take their time:
	serveTick   = time.Second           // from some to the next, as other lanes may have room for them
	servePart   = 50 * time.Millisecond // after which other work comes
	lockedTick  = time.Second           // to the next look at successors that somebody has locked
	resolveMost = 50_000                // tasks that are looked up by one statement
	awaitedMost = 1_000_000             // tasks that are known to be waited for
)

// successor is a task that waits for others.
type successor struct {
	id    int64
	named int32 // tasks in after
}

// successors is what is known of the tasks that wait for others.
type successors struct {
	awaited map[int64]bool // tasks that others wait for; true: it has ended, and is in one of the next two
	ended   []int64        // tasks with successors to be looked at
	locked  []int64        // likewise, once more after a while
	again   time.Time      // when
	served  time.Time      // when some were looked at last
	survey  awaitedSurvey
}

func newSuccessors() successors { return successors{awaited: map[int64]bool{}} }

// over takes note that a task has ended, or may have.
func (f *successors) over(id int64) {
	if ended, awaited := f.awaited[id]; awaited && !ended {
		f.awaited[id] = true
		f.ended = append(f.ended, id)
	}
}

// await takes note that a task which is still to end is waited for.
func (f *successors) await(id int64) {
	if _, known := f.awaited[id]; known || len(f.awaited) < awaitedMost {
		f.awaited[id] = false
	}
}

// endedAs takes note of a task that has not ended well: who waits for others beside it need not
// wait for them.
func (f *successors) endedAs(id int64, state string) {
	if len(f.awaited) > 0 && (state == "FAIL" || state == "GONE" || state == "STOP") && len(f.survey.ill) < illMost {
		f.survey.ill, f.survey.wanted = append(f.survey.ill, id), true
	}
}

// doubt takes note that something may have ended, or wait for something else, without our doing.
func (f *successors) doubt() { f.survey.wanted = f.survey.wanted || len(f.awaited) > 0 }

// seeToSuccessors looks at the successors of tasks that have ended, and from time to time at all
// that is waited for.
func (l *loop) seeToSuccessors(ctx context.Context) error {
	if l.handed || !l.draining.IsZero() {
		return nil
	}
	if err := l.surveyAwaited(ctx); err != nil {
		return err
	}
	f := &l.successors
	if len(f.locked) > 0 && !time.Now().Before(f.again) {
		f.ended, f.locked = append(f.ended, f.locked...), nil
	}
	for began := time.Now(); l.nextServe() <= 0 && time.Since(began) < servePart; {
		if err := l.serveSuccessors(ctx); err != nil {
			return err
		}
	}
	return nil
}

// nextSuccessors is when there is something to look at.
func (l *loop) nextSuccessors() time.Duration {
	if l.handed || !l.draining.IsZero() {
		return never
	}
	next := min(l.nextServe(), l.nextAwaited())
	if len(l.successors.locked) > 0 {
		next = min(next, time.Until(l.successors.again))
	}
	return next
}

// nextServe is when the successors of a task that has ended may be looked at.
func (l *loop) nextServe() time.Duration {
	if len(l.successors.ended) == 0 {
		return never
	}
	_, _, ready := l.Lanes.Load()
	if ready < stockMost {
		return 0
	}
	next := serveTick - time.Since(l.successors.served)
	if ready >= scanMost/2 {
		next = max(next, serveTick)
	}
	return next
}

// serveSuccessors looks at some successors of some tasks that have ended.
func (l *loop) serveSuccessors(ctx context.Context) error {
	f := &l.successors
	var some []int64
	for len(some) < endedMost && len(f.ended) > 0 {
		if id := f.ended[0]; f.awaited[id] {
			some = append(some, id)
		}
		f.ended = f.ended[1:]
	}
	most := max(batchMost/max(len(some), 1), 1)
	of, err := l.successorsOf(ctx, some, most)
	if err != nil {
		f.ended = append(f.ended, some...)
		return err
	}
	var all []successor
	for _, id := range some {
		all = append(all, of[id]...)
	}
	seen, err := l.resolve(ctx, all)
	for _, id := range some {
		served := 0
		for _, one := range of[id] {
			if seen[one.id] {
				served++
			}
		}
		switch {
		case !f.awaited[id]: // it runs again
		case err == nil && served == len(of[id]) && served < most:
			delete(f.awaited, id)
		case err == nil && served == 0:
			f.locked, f.again = append(f.locked, id), time.Now().Add(lockedTick)
		default:
			f.ended = append(f.ended, id)
		}
	}
	f.served = time.Now()
	return err
}

// successorsOf are some of those who wait for tasks that have ended, by these.
func (l *loop) successorsOf(ctx context.Context, ids []int64, most int) (map[int64][]successor, error) {
	of := map[int64][]successor{}
	if len(ids) == 0 {
		return of, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	if err := l.sure(ctx); err != nil {
		return nil, err
	}
	rows, err := l.control.conn.Query(ctx, l.queries().Text("successors"), ids, most)
	if err != nil {
		return nil, err
	}
	var id int64
	var one successor
	_, err = pgx.ForEachRow(rows, []any{&id, &one.id, &one.named}, func() error {
		of[id] = append(of[id], one)
		return nil
	})
	return of, err
}

// meet finds out what new successors wait for, or those whose after was changed.
func (l *loop) meet(ctx context.Context, newcomers []successor) error {
	seen, err := l.resolve(ctx, newcomers)
	for _, one := range newcomers {
		if seen[one.id] {
			delete(l.parked, one.id)
		} else {
			l.park([]int64{one.id}) // somebody has locked it
		}
	}
	return err
}

// resolve looks at what the tasks are to run after: they wait for one that is still to end, or are
// free, or are given up. Returns those of which it is written.
func (l *loop) resolve(ctx context.Context, all []successor) (seen map[int64]bool, err error) {
	seen = map[int64]bool{}
	for len(all) > 0 && err == nil {
		var ids []int64
		named := int32(0)
		for len(all) > 0 && len(ids) < batchMost && (len(ids) == 0 || named+all[0].named <= resolveMost) {
			if !l.isHopeless(all[0].id) {
				ids, named = append(ids, all[0].id), named+all[0].named
			}
			all = all[1:]
		}
		if len(ids) > 0 {
			err = l.resolveSome(ctx, ids, seen)
		}
	}
	return seen, err
}

func (l *loop) resolveSome(ctx context.Context, ids []int64, seen map[int64]bool) error {
	given := map[int64]givenUp{}
	err := l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		all, err := l.readResolved(ctx, ids)
		if err != nil {
			return err
		}
		for _, t := range all {
			if t.Ill != nil {
				given[t.ID] = givenUp{why: fmt.Sprintf("ERROR:  task %d, after which it was to run, has ended as %s", *t.Ill, *t.State)}
				continue
			}
			seen[t.ID] = true
			l.free(t)
		}
		return nil
	})
	if err != nil || len(given) == 0 {
		return err
	}
	return l.giveUp(ctx, given, seen)
}

// readResolved writes what they wait for. That need not be on the disk: after a crash of the server
// it is found out again.
func (l *loop) readResolved(ctx context.Context, ids []int64) (all []resolved, err error) {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL synchronous_commit = off")
	batch.Queue(l.queries().Text("resolve"), ids).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[resolved])
		return err
	})
	batch.Queue("COMMIT")
	if err = l.send(ctx, batch); err != nil {
		return nil, err
	}
	l.look.spoke = time.Now()
	return all, nil
}

// resolved is a row of resolve.sql.
type resolved struct {
	ID            int64
	Awaits        *int64 // what it waits for
	Ill           *int64 // what did not end well
	State         *string
	Group, Remote []byte
	Max, Priority int32
	Ready         bool
}

// free takes note of what a successor waits for. If that is nothing it may start.
func (l *loop) free(t resolved) {
	switch {
	case t.Awaits != nil:
		l.successors.await(*t.Awaits)
		l.successors.doubt() // it may have closed a cycle
	case !t.Ready: // it is planned for later, or paused
		l.look.wanted = true
	case l.tasks[t.ID] == nil:
		l.Lanes.Add(t.Group, t.Remote, lane.Rank{ID: t.ID, Max: t.Max, Priority: t.Priority})
	}
}
