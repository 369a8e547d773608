package work

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// What is planned for the next moment is taken shortly before, when there is nothing else to do. So at that moment it is only to be sent: to look what is due and to
// take it are two exchanges with the server, and each waits for several processes to wake up.
const (
	soonAhead = 20 * time.Millisecond // how long before
	soonMost  = 100                   // tasks
)

// foresees tells whether something is planned for the next moment that has not been looked for.
func (l *loop) foresees() bool {
	_, waiting, ready := l.lanes.load()
	return waiting == 0 && ready == 0 && len(l.soon) == 0 && !l.scanning.active && !l.look.next.IsZero() && !l.look.next.Equal(l.look.foreseen) && l.look.draining.IsZero()
}

// foresee takes what is planned for the next moment. The loop keeps it until then.
func (l *loop) foresee(ctx context.Context) error {
	if until := l.clock.until(l.look.next); !l.foresees() || until <= 0 || until > l.ahead {
		return nil
	}
	l.look.foreseen = l.look.next
	limit, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(limit, l.queries().Text("soon"), l.ahead, soonMost)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	ids = slices.DeleteFunc(ids, func(id int64) bool { return l.tasks[id] != nil || l.isHopeless(id) })
	if err != nil || len(ids) == 0 {
		return err
	}
	var tasks []*task
	err = l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		some, err := l.take(ctx, ids, l.ahead)
		tasks = append(tasks, some...)
		return err
	})
	for _, t := range tasks {
		l.tasks[t.row.ID] = t
	}
	if len(tasks) > 0 && !l.seats.fits(tasks[0]) && l.seated(tasks[0]) {
		l.warm(tasks[0])
	}
	l.soon = append(l.soon, tasks...)
	slices.SortFunc(l.soon, func(a, b *task) int { return a.row.Plan.Compare(b.row.Plan) })
	return err
}

// warm opens a session that a task will need. Where that fails, the task itself will meet the same.
func (l *loop) warm(t *task) {
	l.awaited.Go(func() {
		r := &runner{loop: l}
		if s := r.sit(l.running, t); s != nil {
			l.seats.put(s)
		}
	})
}

// ripen lets those start whose moment has come.
func (l *loop) ripen() {
	n := 0
	for n < len(l.soon) && l.clock.until(l.soon[n].row.Plan) <= 0 {
		n++
	}
	if n > 0 {
		l.lanes.take(l.soon[:n])
		l.soon = slices.Delete(l.soon, 0, n)
		l.dispatch()
	}
}

// ripens is when the next of them may start; nil when there is none.
func (l *loop) ripens() <-chan time.Time {
	if len(l.soon) == 0 {
		return nil
	}
	return time.After(l.clock.until(l.soon[0].row.Plan))
}

// unripe gives up all of them, which are to be released.
func (l *loop) unripe() (tasks []*task) {
	tasks, l.soon = l.soon, nil
	return tasks
}

// dropSoon takes out one of them; false when it is not there.
func (l *loop) dropSoon(t *task) bool {
	n := len(l.soon)
	l.soon = slices.DeleteFunc(l.soon, func(other *task) bool { return other == t })
	return len(l.soon) < n
}
