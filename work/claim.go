package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// What one claim takes at most, and how long a text may be that comes with it, in bytes: so a claim stays under some megabytes.
const (
	claimMost = 500
	claimText = 8 << 10
)

// claim takes the tasks that may start, and some that soon may.
func (l *loop) claim(ctx context.Context) error {
	if len(l.unsaid) > 0 { // what we cannot write now we must not make more of
		return nil
	}
	for {
		ids := l.lanes.choose(claimMost)
		if len(ids) == 0 {
			return nil
		}
		tasks, err := l.take(ctx, ids)
		l.lanes.take(tasks)
		if err != nil {
			return err
		}
		if len(tasks) < len(ids) {
			l.look.wanted = true // what was not got is changed or locked: it is looked at again
		}
		if len(ids) < claimMost {
			return nil
		}
		l.dispatch(ctx)
	}
}

func (l *loop) take(ctx context.Context, ids []int64) ([]*task, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(ctx, l.queries().Text("claim"), ids, claimText)
	if err != nil {
		return nil, err
	}
	var tasks []*task
	var r row
	var timeout, live int64
	var delimiter, escape, quote byte
	_, err = pgx.ForEachRow(rows, []any{
		&r.ID, &r.Group, &r.Remote, &r.Max, &r.Priority, &r.Parent, &r.Plan, &r.Attempt, &timeout, &live, &r.Count, &r.Save, &r.Drift,
		&r.Format.Header, &r.Format.String, &delimiter, &escape, &quote, &r.Format.Null, &r.Rerun, &r.Single, &r.Suspect, &r.Input, &r.Data, &r.Epoch,
	}, func() error {
		r.Timeout, r.Live = micros(timeout), micros(live)
		r.Format.Delimiter, r.Format.Escape, r.Format.Quote = delimiter, escape, quote
		t := &task{
			row: r, lane: laneKey{r.Group, r.Remote}, rank: rank{r.ID, r.Max, r.Priority}, owner: l.control.pid,
			again: l.begun[r.ID], atomic: r.Remote == "",
		}
		l.tasks[r.ID] = t
		tasks = append(tasks, t)
		return nil
	})
	l.look.spoke = time.Now()
	return tasks, err
}

// micros is a time of so many microseconds, bounded to what a time.Duration holds.
func micros(n int64) time.Duration {
	const most = 1<<63 - 1
	if n > most/int64(time.Microsecond) {
		return most
	}
	return time.Duration(n) * time.Microsecond
}

// answer sets the marks that runners wait for, and brings the texts they want.
func (l *loop) answer(ctx context.Context) error {
	var marks []ask
	asks := l.asks
	l.asks = nil
	for i, a := range asks {
		if a.mark {
			marks = append(marks, a)
			continue
		}
		if err := l.bring(ctx, a); err != nil {
			l.asks = append(append(l.asks, marks...), asks[i:]...)
			return err
		}
	}
	if err := l.markFirst(ctx, marks); err != nil {
		l.asks = append(l.asks, marks...)
		return err
	}
	return nil
}

func (l *loop) bring(ctx context.Context, a ask) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	var found answer
	err := l.control.conn.QueryRow(ctx, l.queries().Text("text"), a.task.row.ID).Scan(&found.input, &found.data)
	if err != nil && err != pgx.ErrNoRows {
		return err
	}
	found.ok = err == nil
	a.answer <- found
	return nil
}

// markFirst marks tasks before they start. One whose row is locked now waits; one whose row has changed does not start.
func (l *loop) markFirst(ctx context.Context, asks []ask) error {
	if len(asks) == 0 {
		return nil
	}
	var m marks
	for _, a := range asks {
		m.add(a.task, a.pid, l.clock.now(), a.task.once())
	}
	marked, err := l.setMarks(ctx, &m)
	if err != nil {
		return err
	}
	var open []int64
	for _, a := range asks {
		if !marked[a.task.row.ID] {
			open = append(open, a.task.row.ID)
		}
	}
	standings, err := l.standings(ctx, open)
	if err != nil {
		return err
	}
	for _, a := range asks {
		switch id := a.task.row.ID; {
		case marked[id]:
			a.task.marked = true
			a.answer <- answer{ok: true}
		case standings[id].ours(a.task, a.pid):
			l.asks = append(l.asks, a)
		default:
			a.answer <- answer{}
		}
	}
	return nil
}

// mark shows the tasks that have been running for a while.
func (l *loop) mark(ctx context.Context) error {
	var m marks
	now := l.clock.now()
	for _, t := range l.tasks {
		if t.marked || t.ending {
			continue
		}
		if pid, start, exactly := t.at(); pid != 0 && now.Sub(start) >= markAfter {
			m.add(t, pid, start, exactly)
		}
	}
	marked, err := l.setMarks(ctx, &m)
	for id := range marked {
		l.tasks[id].marked = true
	}
	return err
}

// marks are the parameters of mark.sql.
type marks struct {
	ids, owners, pids []int64
	starts            []time.Time
	atomic            []bool
}

func (m *marks) add(t *task, pid int32, start time.Time, exactly bool) {
	m.ids = append(m.ids, t.row.ID)
	m.owners = append(m.owners, int64(t.owner))
	m.pids = append(m.pids, int64(pid))
	m.starts = append(m.starts, start)
	m.atomic = append(m.atomic, exactly)
}

func (l *loop) setMarks(ctx context.Context, m *marks) (marked map[int64]bool, err error) {
	marked = map[int64]bool{}
	if len(m.ids) == 0 {
		return marked, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(ctx, l.queries().Text("mark"), m.ids, m.owners, m.pids, m.starts, m.atomic)
	if err != nil {
		return marked, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range ids {
		marked[id] = true
	}
	l.look.spoke = time.Now()
	return marked, err
}
