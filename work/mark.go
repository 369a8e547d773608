package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec"
)

// answer sets the marks that runners wait for, and brings the texts they want.
func (l *loop) answer(ctx context.Context) error {
	if l.handed {
		l.decline()
		return nil
	}
	var marks, waiting []ask
	now, asks := time.Now(), l.asks
	l.asks = nil
	for i, a := range asks {
		if a.kind == askMark {
			if a.after.After(now) {
				waiting = append(waiting, a)
			} else {
				marks = append(marks, a)
			}
			continue
		}
		err := l.bring(ctx, a)
		if outdated(err) {
			err = l.bring(ctx, a)
		}
		if err != nil {
			l.asks = slices.Concat(l.asks, waiting, marks, asks[i:])
			return err
		}
	}
	open, err := l.markFirst(ctx, marks)
	l.asks = slices.Concat(l.asks, waiting, open)
	return err
}

// decline answers no to the runners that wait for us: while another leads we can do nothing for them, and their sessions would stay.
func (l *loop) decline() {
	l.listen()
	for _, a := range l.asks {
		a.answer <- answer{}
	}
	l.asks = nil
}

func (l *loop) bring(ctx context.Context, a ask) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	var found answer
	var err error
	switch a.kind {
	case askNames:
		found.sizes, err = l.sizes(ctx, a.task.row.ID)
	case askLead:
		err = l.control.conn.Ping(ctx)
	case askImage:
		if err = l.control.conn.QueryRow(ctx, l.queries().Text("image"), a.task.row.ID).Scan(&found.text); refusedByServer(err) {
			err = nil // it goes without
		}
	default:
		err = l.control.conn.QueryRow(ctx, l.queries().Text("text"), a.task.row.ID, a.kind == askData, l.target.longestText()).Scan(&found.text)
	}
	if answer := new(pgconn.PgError); refusedByServer(err) && errors.As(err, &answer) { // that text cannot be read
		found.refused = exec.NewFailure(answer.Message, answer.Code)
		err = nil
	}
	if err != nil && err != pgx.ErrNoRows {
		return err
	}
	found.ok = err == nil
	a.answer <- found
	return nil
}

// markFirst marks tasks before they start, and returns those that are not answered yet: whose rows are locked now, or all when the connection is
// lost. One whose row has changed does not start.
func (l *loop) markFirst(ctx context.Context, asks []ask) (open []ask, err error) {
	if len(asks) == 0 {
		return nil, nil
	}
	var m marks
	for _, a := range asks {
		m.add(a.task, a.pid, l.clock.now(), a.task.once())
		m.guarded = m.guarded || a.task.guarded()
	}
	marked, err := l.setMarks(ctx, &m)
	if l.trust(ctx, err) {
		return l.markFirst(ctx, asks)
	}
	if refusedByServer(err) && len(asks) > 1 {
		half := len(asks) / 2
		open, err := l.markFirst(ctx, asks[:half])
		if err != nil {
			return append(open, asks[half:]...), err
		}
		later, err := l.markFirst(ctx, asks[half:])
		return append(open, later...), err
	}
	if refusedByServer(err) {
		asks[0].answer <- answer{refused: exec.NewFailure("the start of the task could not be written: "+innermost(err), "55000")}
		return nil, nil
	}
	if err != nil {
		return asks, err
	}
	var passed []int64
	for _, a := range asks {
		if !marked[a.task.row.ID] {
			passed = append(passed, a.task.row.ID)
		}
	}
	standings, err := l.standings(ctx, passed)
	if err != nil {
		return asks, err
	}
	free, err := l.unlocked(ctx, passed)
	if err != nil {
		return asks, err
	}
	for _, a := range asks {
		switch id := a.task.row.ID; {
		case marked[id]:
			a.task.marked = true
			a.answer <- answer{ok: true}
		case standings[id].ours(a.task, a.pid) && free[id] && a.silences+1 >= silences:
			a.answer <- answer{refused: exec.NewFailure("the start of the task could not be written: "+errKept.Error(), "55000")}
		case standings[id].ours(a.task, a.pid):
			if a.silences++; !free[id] {
				a.silences = 0
			}
			a.later()
			open = append(open, a)
		default:
			a.answer <- answer{}
		}
	}
	return open, nil
}

// mark shows the tasks that have been running for a while.
func (l *loop) mark(ctx context.Context) error {
	if time.Since(l.look.marks) < checkTick { // there may be thousands of tasks
		return nil
	}
	l.look.marks = time.Now()
	var long []int64
	now, moment := l.clock.now(), time.Now()
	for id, t := range l.tasks {
		l.lasts(t, moment)
		if t.marked || t.noMark || t.ending || t.marking.after.After(moment) {
			continue
		}
		if pid, start, _ := t.at(); pid != 0 && (now.Sub(start) >= markAfter || !l.look.draining.IsZero()) {
			long = append(long, id)
		}
	}
	if len(long) == 0 {
		return nil
	}
	// A row that refuses the mark is left without it: what its task does is not the worse for that.
	for len(long) > 0 {
		some := long[:min(len(long), batchMost)]
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
	var passed []int64 // somebody has locked them, or changed them
	for _, id := range m.ids {
		if l.tasks[id].marked = marked[id]; !marked[id] {
			l.tasks[id].marking.later()
			passed = append(passed, id)
		}
	}
	if l.trust(ctx, err) {
		return l.markSome(ctx, ids)
	}
	switch {
	case err == nil:
		return l.cancelChanged(ctx, passed)
	case !refusedByServer(err):
		return err
	case len(ids) == 1:
		l.log.Warn().Err(err).Int64("id", ids[0]).Msg("table refuses the mark of a task")
		l.tasks[ids[0]].noMark = true
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
	ids, pids []int64
	versions  []int32
	starts    []time.Time
	atomic    []bool
	repeating []int64 // repeat themselves and are marked before they start: with overlap, the repetition comes now
	guarded   bool    // one of them must be on the disk before its task starts
}

func (m *marks) add(t *task, pid int32, start time.Time, exactly bool) {
	m.ids = append(m.ids, t.row.ID)
	m.versions = append(m.versions, int32(t.row.Version))
	t.marks.Store(true)
	m.pids = append(m.pids, int64(pid))
	m.starts = append(m.starts, start)
	m.atomic = append(m.atomic, exactly)
	if t.row.First && !t.row.Single {
		m.repeating = append(m.repeating, t.row.ID)
	}
}

func (l *loop) setMarks(ctx context.Context, m *marks) (marked map[int64]bool, err error) {
	marked = map[int64]bool{}
	if len(m.ids) == 0 {
		return marked, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	var ids []int64
	set := func(conn querier) error {
		rows, err := conn.Query(ctx, l.queries().Text("mark"), m.ids, m.versions, m.pids, m.starts, m.atomic)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[int64])
		return err
	}
	if onDisk := m.guarded && l.control.lazy; onDisk || len(m.repeating) > 0 {
		err = pgx.BeginFunc(ctx, l.control.conn, func(tx pgx.Tx) error {
			if onDisk {
				if _, err := tx.Exec(ctx, "SET LOCAL synchronous_commit TO on"); err != nil {
					return err
				}
			}
			if err := set(tx); err != nil {
				return err
			}
			return l.repeat(ctx, tx, m.repeating)
		})
	} else {
		err = set(l.control.conn)
	}
	if err != nil {
		return marked, err
	}
	for _, id := range ids {
		marked[id] = true
	}
	l.look.spoke = time.Now()
	return marked, nil
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}
