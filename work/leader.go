package work

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/after"
	"pgtaskd/work/change"
	"pgtaskd/work/ends"
	"pgtaskd/work/hold"
	"pgtaskd/work/judge"
	"pgtaskd/work/keep"
	"pgtaskd/work/lane"
	"pgtaskd/work/ledger"
	"pgtaskd/work/plan"
	"pgtaskd/work/read"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// leader does what only a leading controller does: it finds, reads and plans tasks, judges runs
// that were cut off, and deletes old rows. begin starts a term, and clear drops its state.
type leader struct {
	*shared
	shape *shape

	groups   *read.Groups
	expire   *read.Expire
	scan     *read.Scan
	prefetch *read.Prefetch

	successors *after.Successors
	planner    *plan.Planner
	judge      *judge.Judge
	walk       *keep.Walk
	disk       *keep.Disk

	worked time.Time // when tasks of ours were last known, or the term began
}

// begin reads the state of the table when a term begins.
func (l *leader) begin(ctx context.Context) error {
	l.stats.Moves(0)
	l.clear()
	l.worked = time.Now()
	l.judge.Begin(l.runs.Clock.Now())
	var used bool // tasks have been written to the table: some lanes may be in a pause
	var crashed *time.Time
	if err := l.control.Row(ctx, "used", nil, &used, &crashed); err != nil {
		return err
	}
	if used {
		l.runs.Lanes.Doubt()
	}
	if err := l.groups.Step(ctx); err != nil {
		return err
	}
	l.prefetch.Crashed = crashed
	l.ends.DropForgotten(crashed)
	if err := l.scan.Begin(ctx); err != nil {
		return err
	}
	return l.judge.Orphans.Clear(ctx)
}

// clear drops the state of a term.
func (l *leader) clear() {
	l.holds.Clear()
	l.groups.Clear()
	l.expire.Clear()
	l.scan.Clear()
	l.successors.Clear()
	l.planner.Clear()
	l.shape.forget()
}

// rescan looks for tasks that have become due. A drain needs none.
func (l *leader) rescan(ctx context.Context) error {
	if l.drain.on() {
		l.scan.GiveUp()
		return nil
	}
	if l.notices.Changed {
		l.doubt()
	}
	return l.scan.Step(ctx)
}

// fetch reads the rows of tasks that may start soon.
func (l *leader) fetch(ctx context.Context) error {
	if l.notices.Changed {
		l.doubt()
	}
	return l.prefetch.Step(ctx)
}

func (l *leader) nextScan() time.Duration { return l.scan.Next(l.drain.on()) }

// askMore adds the queries of other rooms to the first part of a scan. full: it reads all due
// tasks.
func (l *leader) askMore(batch *pgx.Batch, full bool) {
	l.planner.Queue(batch)
	if full {
		l.judge.Orphans.QueueStopping(batch)
		l.successors.QueueAny(batch)
	}
}

// hearMore acts on the answers to one part of a scan. first: this is the first part.
func (l *leader) hearMore(ctx context.Context, first bool) error {
	if err := l.redescribe(ctx); err != nil || !first {
		return err
	}
	return l.planner.Step(ctx)
}

// expects tells whether to try to read one task alone: no other task is known, ours or not, and a
// session lies ready. A leader that is awake scans all the time instead. After a long rest a scan
// comes first: the table may be another one, or the server take no writes any more.
func (l *leader) expects() bool {
	return !l.working() && len(l.tasks)+l.holds.Len() == 0 && l.shape.age() > -beatGrid && !l.wake.Awake() && !l.scan.Active() && !l.runs.Pool.Empty()
}

// working tells whether tasks are due or under way, ours or not.
func (l *leader) working() bool {
	busy, waiting, ready := l.runs.Lanes.Load()
	return busy+waiting+ready+l.judge.Orphans.Len() > 0
}

// startAlone reads the due task if there is exactly one, and starts it. If no session suits the
// task, as settings have changed since the sessions were opened, a scan comes first: writes may
// have been switched off.
func (l *leader) startAlone(ctx context.Context) (started bool, err error) {
	if !l.expects() {
		return false, nil
	}
	t, err := l.prefetch.Alone(ctx)
	if err != nil || t == nil || !l.runs.Fits(t) {
		return false, err
	}
	l.runs.Dispatch()
	runtime.Gosched() // run the runner now, not when another thread wakes up: saves 0.035 ms
	l.scan.StartedAlone()
	return true, nil
}

// doubt records that somebody has changed rows: a running task may have been stopped, a task that
// others wait for may have been deleted, and a waiting task may have a new place in its lane.
func (l *leader) doubt() {
	l.scan.Changed()
	l.successors.Doubt()
	l.judge.Watch.Doubt()
}

// clogged tells that too many ends wait to be written: no more tasks may be read.
func (l *leader) clogged() bool {
	most := 4 * l.live.Load().Run
	return l.ends.Heavy() || l.ends.Len() > most || l.ledger.Len() > most+ledger.Most
}

// nextDispatch is the time until a pause in a lane ends, and short while a prefetched task waits.
func (l *leader) nextDispatch() time.Duration {
	next := hold.Never
	if at, ok := l.runs.Lanes.Wake(); ok {
		next = l.runs.Clock.Until(at) + read.ClockMargin
	}
	if _, waiting, _ := l.runs.Lanes.Load(); waiting > 0 {
		next = min(next, startTick)
	}
	return next
}

// The functions below count and log the ends of tasks, and pass them on to the tasks' successors.

// ended records that the row of a task shows its end, or that the task waits again.
func (l *leader) ended(e *ends.End, state string) {
	l.stats.Ends(state, 1)
	l.walk.Ended()
	l.successors.EndedAs(e.Task.Row.ID, state)
	if !l.log.Wants(state) {
		return
	}
	line := target.Line{ID: e.Task.Row.ID, State: state, Group: shownGroup(e.Task.Row.Group), Attempt: e.Task.Row.Attempt, Start: e.Start, Stop: e.Stop}
	if e.Task.Row.Key != nil {
		line.Key = *e.Task.Row.Key
	}
	if failure := e.Failure(); failure != nil && state != "DONE" {
		line.Error, line.SQLState = failure.Text, failure.SQLState
	}
	l.log.Task(line)
}

// counted records tasks that have ended, or wait again, without a run of ours.
func (l *leader) counted(all []change.Changed) {
	l.walk.Ended()
	for _, c := range all {
		l.stats.Ends(c.State, 1)
		l.successors.Over(c.ID)
		l.successors.EndedAs(c.ID, c.State)
		if !l.log.Wants(c.State) {
			continue
		}
		l.log.Task(target.Line{
			ID: c.ID, State: c.State, Group: shownGroup(l.readable(c.Group)), Key: l.readable(c.Key),
			SQLState: l.readable(c.SQLState), Error: l.readable(c.Error),
		})
	}
}

// judged records tasks of an old leader, or of lost sessions, whose rows show their end now.
func (l *leader) judged(all []change.Changed) {
	for _, c := range all {
		if c.Empty {
			l.ends.Deletes.Later(c.ID)
		}
		if c.State == "FAIL" && string(c.SQLState) == "TK003" {
			l.stats.Unknown()
		}
		if c.State == "GONE" {
			l.stats.Skips(target.Superseded, 1)
		}
	}
	l.counted(all)
}

// seen takes the outcome of a run.
func (l *leader) seen(o run.Outcome) {
	l.ran(&o)
	if o.Closed != nil {
		l.unopened(&o)
	}
	if f := o.Failure(); f != nil && f.SQLState == fault.DiskFull && o.Task.Row.Remote == "" {
		l.disk.Doubt()
	}
	l.ends.Seen(o)
}

// unopened logs why a session could not be opened. A remote that is a connection string may hold a
// password; the error names its server and user.
func (l *leader) unopened(o *run.Outcome) {
	kind, place := "remote", o.Task.Row.Remote
	if place == "" {
		kind, place = "role", o.Task.Row.Session.Role.Name
	} else if _, named := l.target.Remotes[place]; !named {
		place = ""
	}
	l.log.Unopened(o.Task.Row.ID, kind, place, o.Closed)
}

// ran counts a run whose outcome is known.
func (l *leader) ran(o *run.Outcome) {
	if o.Start.IsZero() || o.Kind == run.Released {
		return
	}
	row, late := &o.Task.Row, 0
	if row.Attempt == 1 {
		late = int(row.Schedule.Skipped)
	}
	l.stats.Ran(row.Schedule.Plan.Add(row.Schedule.Late), o.Start, o.Stop, late)
}

// shownGroup is the name of a group for a log line; a long name is cut.
func shownGroup(group string) string {
	if head := lane.Head(group); head != group {
		return head + "…"
	}
	return group
}

// readable converts text from the database to valid UTF-8 for the log.
func (l *leader) readable(raw []byte) string {
	if l.control.Facts().Encoding == "UTF8" {
		return strings.ToValidUTF8(string(raw), "?")
	}
	return text.ASCII(string(raw))
}
