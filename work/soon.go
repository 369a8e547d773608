package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/run"
)

// What is planned for the next moment is read shortly before, when there is nothing else to do. So
// at that moment it is only to be sent: to look what is due and to read it are two exchanges with
// the server, and each waits for several processes to wake up.
const (
	soonAhead  = 20 * time.Millisecond // how long before
	soonMost   = 100                   // tasks
	dense      = time.Second           // between two moments
	denseAhead = 200 * time.Millisecond
)

// horizon is how long before the next moment it is looked what is planned, and up to when that is
// read. Where moments are dense, both are so far ahead that a disk that takes its time for what is
// written between them keeps none of them waiting.
func (l *loop) horizon() (from, to time.Duration) {
	if time.Since(l.look.dense) < 2*dense {
		return max(l.ahead, denseAhead/2), max(l.ahead, denseAhead)
	}
	return l.ahead, l.ahead
}

// foresees tells whether something is planned for the next moment that has not been looked for.
func (l *loop) foresees() bool {
	_, waiting, ready := l.Lanes.Load()
	return waiting == 0 && ready == 0 && len(l.soon) < soonMost && !l.scanning.active && !l.look.next.IsZero() &&
		!l.look.next.Equal(l.look.foreseen) && l.draining.IsZero()
}

// foresee reads what is planned for the next moment. The loop keeps it until then.
func (l *loop) foresee(ctx context.Context) error {
	from, _ := l.horizon()
	if until := l.Clock.Until(l.look.next); !l.foresees() || until <= 0 || until > from {
		return nil
	}
	if l.look.next.Sub(l.look.foreseen) < dense {
		l.look.dense = time.Now()
	}
	l.look.foreseen = l.look.next
	_, to := l.horizon()
	limit, cancel := limited(ctx)
	defer cancel()
	var ids []int64
	batch := &pgx.Batch{}
	batch.Queue(l.queries().Text("soon"), to, soonMost).Query(func(rows pgx.Rows) (err error) {
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	})
	err := l.send(limit, batch)
	ids = slices.DeleteFunc(ids, func(id int64) bool { return l.tasks[id] != nil || l.isHopeless(id) })
	if err != nil || len(ids) == 0 {
		return err
	}
	var tasks []*run.Task
	err = l.ripening(func() error {
		return l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
			some, err := l.read(ctx, ids, to)
			tasks = append(tasks, some...)
			return err
		})
	})
	l.know(tasks)
	if len(tasks) > 0 {
		l.Warm(tasks[0])
	}
	l.soon = append(l.soon, tasks...)
	slices.SortFunc(l.soon, func(a, b *run.Task) int { return a.Row.Plan.Compare(b.Row.Plan) })
	return err
}

// ripen lets those start whose moment has come.
func (l *loop) ripen() {
	n := 0
	for n < len(l.soon) && l.Clock.Until(l.soon[n].Row.Plan) <= 0 {
		n++
	}
	if n > 0 {
		l.Lanes.Prefetched(l.soon[:n])
		l.soon = slices.Delete(l.soon, 0, n)
		l.Dispatch()
	}
}

// ripens is when the next of them may start; nil when there is none.
func (l *loop) ripens() <-chan time.Time {
	if len(l.soon) == 0 {
		return nil
	}
	return time.After(l.Clock.Until(l.soon[0].Row.Plan))
}

// ripening does something on the control connection, and lets those start meanwhile whose moment
// comes: what is written waits for the disk. It must not touch what that takes: soon, and when a
// task was searched for.
func (l *loop) ripening(do func() error) error {
	if len(l.soon) == 0 {
		return do()
	}
	done := l.crew.Start(do)
	for {
		select {
		case err := <-done:
			return err
		case <-l.ripens():
			l.ripen()
		}
	}
}

// dropWaiting forgets all that was read and has not started.
func (l *loop) dropWaiting() {
	for _, t := range append(l.Lanes.Forget(), l.soon...) {
		delete(l.tasks, t.Row.ID)
	}
	l.soon = nil
}

// dropSoon takes out one of them; false when it is not there.
func (l *loop) dropSoon(t *run.Task) bool {
	n := len(l.soon)
	l.soon = slices.DeleteFunc(l.soon, func(other *run.Task) bool { return other == t })
	return len(l.soon) < n
}
