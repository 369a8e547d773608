package work

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtask/exec"
)

// tries is how often a task is run again because its end could not be written, before it FAILs.
const tries = 5

// write does what the runners' words ask for. What cannot be written now stays in unsaid.
func (l *loop) write(ctx context.Context, ends []end) error {
	for _, e := range ends {
		e.task.ending = true
	}
	var unsaid []end
	now := time.Now()
	for _, e := range l.unsaid {
		if e.after.After(now) {
			unsaid = append(unsaid, e)
		} else {
			ends = append(ends, e)
		}
	}
	l.unsaid = unsaid
	for i := 0; i < len(ends); {
		if l.tasks[ends[i].task.row.ID] != ends[i].task { // written before an error that came after it
			i++
			continue
		}
		n := i + 1
		for n < len(ends) && ends[n].kind == ends[i].kind && n-i < claimMost {
			n++
		}
		if err := l.writeSome(ctx, ends[i:n]); err != nil {
			l.putOff(ends[i:])
			return err
		}
		i = n
	}
	return nil
}

// putOff keeps ends for the next try, those that it does not keep already.
func (l *loop) putOff(ends []end) {
	kept := map[*task]bool{}
	for _, e := range l.unsaid {
		kept[e.task] = true
	}
	for _, e := range ends {
		if !kept[e.task] {
			l.unsaid = append(l.unsaid, e)
		}
	}
}

// writeSome writes ends of one kind.
func (l *loop) writeSome(ctx context.Context, ends []end) error {
	switch ends[0].kind {
	case committed:
		return l.forgetCommitted(ctx, ends)
	case finished:
		return l.each2(ctx, ends, l.finish)
	case refused:
		return l.refused(ctx, ends)
	case released:
		return l.each2(ctx, ends, l.release)
	case stopped:
		return l.each2(ctx, ends, l.stopped)
	case lost:
		for _, e := range ends {
			l.lost[e.task.row.ID] = e
		}
	case killed:
		for _, e := range ends {
			if e.stop.Before(l.look.began) { // it went with the server, or we would not have had to begin again
				l.lost[e.task.row.ID] = e
			} else {
				l.killed = append(l.killed, e)
			}
		}
	}
	return nil
}

// each2 writes ends together, and where the table refuses them, one by one, so that one odd row holds up no other. A row that takes
// no end at all is given up: it is reported, and stays as it is.
func (l *loop) each2(ctx context.Context, ends []end, write func(context.Context, []end) error) error {
	err := write(ctx, ends)
	if err == nil || !refusedByServer(err) {
		return err
	}
	if l.trust(ctx, err) {
		return l.each2(ctx, ends, write)
	}
	if len(ends) > 1 {
		half := len(ends) / 2
		if err := l.each2(ctx, ends[:half], write); err != nil {
			return err
		}
		return l.each2(ctx, ends[half:], write)
	}
	e := ends[0]
	var answer *pgconn.PgError
	errors.As(err, &answer)
	switch {
	case passing(answer):
		l.unsaid = append(l.unsaid, e.later())
		return nil
	case isKeyTaken(answer):
		l.gone(e)
		return l.supersede(ctx, e.task.row.ID, e.task.owner, e.pid)
	case e.kind == finished && !e.bare:
		e.bare = true
		if e.failure() == nil {
			e.fault = exec.NewFailure("the end of the task could not be written: "+answer.Message, answer.Code, "DETAIL", answer.Detail, "HINT", answer.Hint, "CONTEXT", answer.Where)
		}
		return l.each2(ctx, []end{e}, write)
	}
	l.log.Error().Err(err).Int64("id", e.task.row.ID).Msg("the table refuses the end of a task; its row stays as it is")
	l.hopeless[e.task.row.ID] = true
	l.gone(e)
	return nil
}

// each does the same for bare ids.
func (l *loop) each(ctx context.Context, ids []int64, do func(context.Context, []int64) error) error {
	bounded, cancel := limited(ctx)
	err := do(bounded, ids)
	cancel()
	if err == nil || !refusedByServer(err) {
		return err
	}
	if l.trust(ctx, err) {
		return l.each(ctx, ids, do)
	}
	if answer := new(pgconn.PgError); errors.As(err, &answer) && passing(answer) {
		return nil // it is tried again
	}
	if len(ids) == 1 {
		if answer := new(pgconn.PgError); errors.As(err, &answer) && isKeyTaken(answer) {
			return l.supersede(ctx, ids[0], 0, 0)
		}
		l.log.Error().Err(err).Int64("id", ids[0]).Msg("the table refuses a change of a task; its row stays as it is")
		l.hopeless[ids[0]] = true
		return nil
	}
	half := len(ids) / 2
	if err := l.each(ctx, ids[:half], do); err != nil {
		return err
	}
	return l.each(ctx, ids[half:], do)
}

// refusedByServer tells an answer of a server that goes on from the loss of the connection. What is wrong with the table as a whole, such
// as a missing right, is not a matter of rows: it ends the leadership.
func refusedByServer(err error) bool {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) || answer.Severity == "FATAL" || answer.Severity == "PANIC" {
		return false
	}
	switch answer.Code {
	case "42501":
		return answer.Where != "" || answer.Routine != "aclcheck_error" // a policy's word, or a trigger's, and may be that of one row only
	case "42P01", "42703", "42704":
		return answer.Where != "" // likewise
	case "25006", "53100", "53200", "57014", "57P01", "57P02", "57P03":
		return false
	}
	return true
}

// trust gives our statements the role's own search_path once a trigger of the user's has turned out to need it, as it names things that it does
// not qualify: until then the path is empty, so that nothing can come between our statements and what they mean.
func (l *loop) trust(ctx context.Context, err error) (trusted bool) {
	var answer *pgconn.PgError
	var failure *exec.Failure
	switch {
	case l.path.Load() != nil:
		return false
	case errors.As(err, &answer) && answer.Where != "" && pathless(answer.Code):
	case errors.As(err, &failure) && pathless(failure.SQLState):
	default:
		return false
	}
	l.log.Warn().Err(err).Msg("a trigger of the table finds something only by search_path: our statements use the role's from now on")
	if l.control.trust(ctx) != nil {
		return false // the connection is lost, as the next statement will say
	}
	l.path.Store(&l.control.path)
	return true
}

// pathless tells the errors of a name that search_path does not lead to.
func pathless(code string) bool {
	switch code {
	case "42P01", "42883", "42704", "3F000":
		return true
	}
	return false
}

// passing tells an error that another transaction is the cause of.
func passing(answer *pgconn.PgError) bool {
	return answer.Code == "40001" || answer.Code == "40P01" || answer.Code == "55P03"
}

// isKeyTaken tells that a task cannot wait again because another one with its key does.
func isKeyTaken(answer *pgconn.PgError) bool {
	return answer.Code == "23505" && strings.HasPrefix(answer.ConstraintName, "pgtask_wait_key")
}

// supersede ends a task whose key another one waits for.
func (l *loop) supersede(ctx context.Context, id int64, owner, pid int32) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	_, err := l.control.conn.Exec(ctx, l.queries().Text("superseded"), id, owner, pid)
	if refusedByServer(err) {
		l.log.Error().Err(err).Int64("id", id).Msg("the table refuses the end of a task; its row stays as it is")
		l.hopeless[id] = true
		return nil
	}
	return err
}

// gone forgets a task whose end is written, or that is not ours any more.
func (l *loop) gone(e end) {
	delete(l.tasks, e.task.row.ID)
	l.count++
}

func (l *loop) forgetCommitted(ctx context.Context, ends []end) error {
	var empty []int64
	for _, e := range ends {
		if e.result.Output == nil {
			empty = append(empty, e.task.row.ID)
		}
	}
	if err := l.delete(ctx, empty); err != nil {
		return err
	}
	for _, e := range ends {
		delete(l.begun, e.task.row.ID)
		l.gone(e)
		l.look.wanted = l.look.wanted || !e.task.row.Single
	}
	return nil
}

// delete removes tasks that have nothing to show, those that ask for it.
func (l *loop) delete(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return l.each(ctx, ids, func(ctx context.Context, ids []int64) error {
		rows, err := l.control.conn.Query(ctx, l.queries().Text("delete"), ids)
		if err != nil {
			return err
		}
		locked, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		l.empty = append(l.empty, locked...)
		return err
	})
}

// sweep deletes, once a second, what was locked when it should have been.
func (l *loop) sweep(ctx context.Context) error {
	if len(l.empty) == 0 || time.Since(l.look.swept) < time.Second {
		return nil
	}
	l.look.swept = time.Now()
	ids := l.empty
	l.empty = nil
	for len(ids) > 0 {
		n := min(len(ids), claimMost)
		if err := l.delete(ctx, ids[:n]); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// finish writes the ends of tasks whose transactions are over, in one of its own.
func (l *loop) finish(ctx context.Context, ends []end) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends)
	written := map[int64]bool{}
	var empty []int64
	err := pgx.BeginFunc(ctx, l.control.conn, func(tx pgx.Tx) error {
		if slices.Contains(c.done, false) {
			if err := l.retry(ctx, tx, ends, written); err != nil {
				return err
			}
		}
		rows, err := tx.Query(ctx, l.queries().Text("finish"), c.ids, c.owners, c.pids, c.done, c.starts, c.stops, c.outputs, c.errors, c.sqlstates, c.notices, c.exactly)
		if err != nil {
			return err
		}
		var id int64
		var repeats, nothing bool
		var repeat []int64
		bare := map[int64]bool{}
		for _, e := range ends {
			bare[e.task.row.ID] = e.bare
		}
		if _, err := pgx.ForEachRow(rows, []any{&id, &repeats, &nothing}, func() error {
			written[id] = true
			if repeats && !bare[id] {
				repeat = append(repeat, id)
			}
			if nothing {
				empty = append(empty, id)
			}
			return nil
		}); err != nil {
			return err
		}
		return l.repeat(ctx, tx, repeat)
	})
	if err != nil {
		return err
	}
	l.look.spoke = time.Now()
	if err := l.settle(ctx, ends, written); err != nil {
		return err
	}
	return l.delete(ctx, empty)
}

// retry returns those of the failed tasks to PLAN that have retries left.
func (l *loop) retry(ctx context.Context, tx pgx.Tx, ends []end, written map[int64]bool) error {
	var failed []end
	for _, e := range ends {
		if e.failure() != nil {
			failed = append(failed, e)
		}
	}
	c := newColumns(failed)
	rows, err := tx.Query(ctx, l.queries().Text("retry"), c.ids, c.owners, c.pids, c.starts, c.stops, c.outputs, c.errors, c.sqlstates, c.notices, c.exactly)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range ids {
		written[id] = true
		l.look.wanted = true
	}
	return err
}

// settle forgets the tasks whose ends are written, and looks what is the matter with the others: some are locked, and are written later;
// some have been stopped; the rest are no longer ours.
func (l *loop) settle(ctx context.Context, ends []end, written map[int64]bool) error {
	var open []int64
	for _, e := range ends {
		if written[e.task.row.ID] {
			delete(l.begun, e.task.row.ID)
			l.gone(e)
		} else {
			open = append(open, e.task.row.ID)
		}
	}
	standings, err := l.standings(ctx, open)
	if err != nil {
		return err
	}
	free, err := l.unlocked(ctx, open)
	if err != nil {
		return err
	}
	for _, e := range ends {
		if written[e.task.row.ID] {
			continue
		}
		switch s := standings[e.task.row.ID]; {
		case s.ours(e.task, e.pid) && e.wait > 0 && free[e.task.row.ID]:
			l.refusedSilently(e)
		case s.ours(e.task, e.pid):
			l.unsaid = append(l.unsaid, e.later())
		case s.state == "STOP" && !s.ended && e.kind != stopped:
			e.kind = stopped
			l.unsaid = append(l.unsaid, e)
		default:
			l.gone(e)
		}
	}
	return nil
}

// unlocked tells which of the rows nobody has locked.
func (l *loop) unlocked(ctx context.Context, ids []int64) (free map[int64]bool, err error) {
	free = map[int64]bool{}
	if len(ids) == 0 {
		return free, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	rows, err := l.control.conn.Query(ctx, l.queries().Text("unlocked"), ids)
	if err != nil {
		return free, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for _, id := range all {
		free[id] = true
	}
	return free, err
}

// refusedSilently is the end that a row has not taken though nobody has it locked and no error came: a trigger of the user's leaves it out.
func (l *loop) refusedSilently(e end) {
	if e.kind == finished && !e.bare {
		e.bare = true
		if e.failure() == nil {
			e.fault = refusal(nil)
		}
		l.unsaid = append(l.unsaid, e)
		l.inbox.wake()
		return
	}
	l.log.Error().Int64("id", e.task.row.ID).Msg("the table refuses the end of a task; its row stays as it is")
	l.hopeless[e.task.row.ID] = true
	l.gone(e)
}

// release gives tasks back.
func (l *loop) release(ctx context.Context, ends []end) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends)
	delays := make([]*string, len(ends))
	for i, e := range ends {
		c.errors[i], c.sqlstates[i] = nil, nil
		if e.delay > 0 {
			d := e.delay.String()
			delays[i] = &d
			l.look.wanted = true
		}
		if e.delay > 0 && e.fault != nil {
			c.errors[i], c.sqlstates[i] = &e.fault.Text, &e.fault.SQLState
		}
	}
	rows, err := l.control.conn.Query(ctx, l.queries().Text("release"), c.ids, c.owners, c.pids, delays, c.errors, c.sqlstates)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	l.look.wanted = true
	written := map[int64]bool{}
	for _, id := range ids {
		written[id] = true
	}
	begun := map[int64]int{}
	for id, n := range l.begun {
		begun[id] = n
	}
	err = l.settle(ctx, ends, written)
	l.begun = begun
	return err
}

// stopped writes the ends of tasks that were stopped. One that is ours again after all has failed.
func (l *loop) stopped(ctx context.Context, ends []end) error {
	ctx, cancel := limited(ctx)
	defer cancel()
	c := newColumns(ends)
	for i, e := range ends {
		why := stopFailure(e)
		c.errors[i], c.sqlstates[i] = &why.Text, &why.SQLState
	}
	rows, err := l.control.conn.Query(ctx, l.queries().Text("stopped"), c.ids, c.pids, c.starts, c.stops, c.errors, c.sqlstates, c.notices)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	written := map[int64]bool{}
	for _, id := range ids {
		written[id] = true
	}
	for i := range ends {
		if !written[ends[i].task.row.ID] {
			ends[i].kind, ends[i].fault = finished, stopFailure(ends[i])
		}
	}
	return l.settle(ctx, ends, written)
}

// stopFailure says of a task that it was stopped.
func stopFailure(e end) *exec.Failure {
	detail := "Its state was set to STOP while it ran."
	if e.start.IsZero() {
		detail = "Its state was set to STOP before it had started."
	}
	input := ""
	if e.task.row.Input != nil {
		input = *e.task.row.Input
	}
	return exec.NewFailure("canceling statement due to user request", "57014", "DETAIL", detail, "STATEMENT", input)
}

// refused finds out why rows did not take the ends of their tasks, whose effects are rolled back.
func (l *loop) refused(ctx context.Context, ends []end) error {
	ids := make([]int64, len(ends))
	for i, e := range ends {
		ids[i] = e.task.row.ID
	}
	standings, err := l.standings(ctx, ids)
	if err != nil {
		return err
	}
	for _, e := range ends {
		id := e.task.row.ID
		if e.fault != nil {
			l.trust(ctx, e.fault)
		}
		switch s := standings[id]; {
		case s.state == "STOP" && !s.ended:
			e.kind = stopped
		case !s.ours(e.task, e.pid):
			l.gone(e)
			continue
		case e.delay > 0 && l.begun[id] < tries && (e.task.once() || e.task.row.Rerun):
			l.begun[id]++
			e.kind, e.delay = released, 0
		default:
			e.kind = finished
			if e.fault == nil {
				e.fault = refusal(nil)
			}
		}
		l.unsaid = append(l.unsaid, e)
	}
	l.inbox.wake()
	return nil
}

// columns are the ends as the queries take them.
type columns struct {
	ids, owners, pids                   []int64
	done, exactly                       []bool
	starts, stops                       []*time.Time
	outputs, errors, sqlstates, notices []*string
}

func newColumns(ends []end) *columns {
	n := len(ends)
	c := &columns{
		ids: make([]int64, n), owners: make([]int64, n), pids: make([]int64, n), done: make([]bool, n), exactly: make([]bool, n),
		starts: make([]*time.Time, n), stops: make([]*time.Time, n),
		outputs: make([]*string, n), errors: make([]*string, n), sqlstates: make([]*string, n), notices: make([]*string, n),
	}
	for i := range ends {
		e := &ends[i]
		c.ids[i], c.owners[i], c.pids[i] = e.task.row.ID, int64(e.task.owner), int64(e.pid)
		c.exactly[i] = e.task.traits != nil && e.task.once()
		c.stops[i] = &e.stop
		c.starts[i] = &e.start
		if e.start.IsZero() {
			c.starts[i] = &e.stop
		}
		if e.result != nil {
			c.outputs[i], c.notices[i] = e.result.Output, e.result.Notice
		}
		fault := e.failure()
		if c.done[i] = fault == nil; fault != nil {
			c.errors[i], c.sqlstates[i] = &fault.Text, &fault.SQLState
		}
	}
	return c
}
