package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtask/exec"
)

// What one claim takes at most, and how long a text may be that comes with it, in bytes: so a claim stays under some megabytes.
const (
	claimMost = 500
	claimText = 8 << 10
)

// claim takes the tasks that may start, and some that soon may.
func (l *loop) claim(ctx context.Context) error {
	if l.clogged() {
		return nil
	}
	for {
		ids := l.lanes.choose(claimMost)
		if len(ids) == 0 {
			return nil
		}
		tasks, err := l.takeEach(ctx, ids)
		l.lanes.take(tasks)
		if err != nil {
			return err
		}
		if len(tasks) < len(ids) {
			l.park(ids)
		}
		if len(ids) < claimMost {
			return nil
		}
		l.dispatch(ctx)
	}
}

// clogged tells that so many ends could not be written that we must not make more of them.
func (l *loop) clogged() bool { return len(l.unsaid) > 4*l.target.Run }

// takeEach takes the tasks together, or where the table refuses that, those that it does not refuse.
func (l *loop) takeEach(ctx context.Context, ids []int64) (tasks []*task, err error) {
	err = l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		some, err := l.take(ctx, ids)
		tasks = append(tasks, some...)
		return err
	})
	return tasks, err
}

// parked is a task that could not be taken: its row has changed, is locked, or silently not updated by a trigger. It is looked at again
// after a while.
type parked struct {
	until time.Time // by our clock
	wait  time.Duration
}

// park puts off those of the tasks that were not taken.
func (l *loop) park(ids []int64) {
	for _, id := range ids {
		if l.tasks[id] != nil || l.hopeless[id] {
			continue
		}
		p := l.parked[id]
		p.wait = min(max(2*p.wait, checkTick), time.Second)
		p.until = time.Now().Add(p.wait)
		l.parked[id] = p
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
		delete(l.parked, r.ID)
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
	if l.trust(ctx, err) {
		return l.markFirst(ctx, asks)
	}
	if refusedByServer(err) && len(asks) > 1 {
		half := len(asks) / 2
		if err := l.markFirst(ctx, asks[:half]); err != nil {
			return err
		}
		return l.markFirst(ctx, asks[half:])
	}
	if refusedByServer(err) {
		asks[0].answer <- answer{refused: exec.NewFailure("the start of the task could not be written: "+innermost(err), "55000")}
		return nil
	}
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
	var long []int64
	now := l.clock.now()
	for id, t := range l.tasks {
		if t.marked || t.ending {
			continue
		}
		if pid, start, _ := t.at(); pid != 0 && now.Sub(start) >= markAfter {
			long = append(long, id)
		}
	}
	if len(long) == 0 {
		return nil
	}
	// A row that refuses the mark is left without it: what its task does is not the worse for that.
	for len(long) > 0 {
		some := long[:min(len(long), claimMost)]
		long = long[len(some):]
		if err := l.markSome(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (l *loop) markSome(ctx context.Context, ids []int64) error {
	var m marks
	for _, id := range ids {
		t := l.tasks[id]
		if pid, start, exactly := t.at(); pid != 0 {
			m.add(t, pid, start, exactly)
		}
	}
	marked, err := l.setMarks(ctx, &m)
	for id := range marked {
		l.tasks[id].marked = true
	}
	if l.trust(ctx, err) {
		return l.markSome(ctx, ids)
	}
	switch {
	case !refusedByServer(err):
		return err
	case len(ids) == 1:
		l.log.Warn().Err(err).Int64("id", ids[0]).Msg("the table refuses to show that a task runs")
		l.tasks[ids[0]].marked = true
		return nil
	}
	half := len(ids) / 2
	if err := l.markSome(ctx, ids[:half]); err != nil {
		return err
	}
	return l.markSome(ctx, ids[half:])
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
