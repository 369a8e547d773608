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

// leader does what only a controller does that leads: it finds, reads and plans tasks, judges runs
// that were cut off, and deletes old rows. begin starts a term, and clear drops what belongs to
// one.
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
}

// begin finds out where things stand when a term begins.
func (l *leader) begin(ctx context.Context) error {
	l.clear()
	l.judge.Begin(l.runs.Clock.Now())
	var used bool // tasks have been written to the table: pauses may be under way
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

// clear drops what belongs to a term: nothing of it outlasts that.
func (l *leader) clear() {
	l.holds.Clear()
	l.groups.Clear()
	l.expire.Clear()
	l.scan.Clear()
	l.successors.Clear()
	l.planner.Clear()
	l.shape.forget()
}

// rescan looks for tasks that have become due. In a drain there is none to be found.
func (l *leader) rescan(ctx context.Context) error {
	if l.drain.on() {
		l.scan.Rest()
		return nil
	}
	if l.notices.Changed {
		l.doubt()
	}
	return l.scan.Step(ctx)
}

func (l *leader) nextScan() time.Duration { return l.scan.Next(l.drain.on()) }

// comesNext reads the server's clock and the earliest plan to come. It is due when the control
// session has been silent for long, as a sign of life, or when nobody has looked at the table for
// long.
func (l *leader) comesNext(ctx context.Context) error {
	batch := &pgx.Batch{}
	l.scan.QueueNext(batch)
	if err := l.control.Send(ctx, batch); err != nil {
		return err
	}
	return l.redescribe(ctx)
}

// redescribe looks at the table again when it has changed: a repetition copies all columns, and
// what has been dropped may be missing.
func (l *leader) redescribe(ctx context.Context) error {
	if !l.table.Changed() {
		return nil
	}
	if err := l.shape.install(ctx); err != nil {
		return err
	}
	l.scan.All() // nothing may have told us of new tasks meanwhile
	l.leads.Renew()
	return nil
}

// askMore adds the questions of other rooms to the first part of a scan. full: the scan looks at
// all that is due.
func (l *leader) askMore(batch *pgx.Batch, full bool) {
	l.planner.Queue(batch)
	if full {
		l.judge.Orphans.QueueStopping(batch)
	}
}

// hearMore acts on the answers to a part of a scan. first: it is the first part.
func (l *leader) hearMore(ctx context.Context, first bool) error {
	if err := l.redescribe(ctx); err != nil || !first {
		return err
	}
	return l.planner.Step(ctx)
}

// expects tells whether to try to read a task alone: there is no other that we know of, ours or not,
// and a session lies ready. A leader that is awake looks all the time.
func (l *leader) expects() bool {
	busy, waiting, ready := l.runs.Lanes.Load()
	known := busy + waiting + ready + len(l.tasks) + l.judge.Orphans.Len() + l.holds.Len()
	return known == 0 && !l.wake.Awake() && !l.scan.Active() && !l.runs.Pool.Empty()
}

// startAlone reads the task that is due alone, if there is one, and starts it. If no session suits it,
// since settings are others than when those were opened, a look comes first: writes may have been
// switched off.
func (l *leader) startAlone(ctx context.Context) (started bool, err error) {
	if !l.expects() {
		return false, nil
	}
	t, err := l.prefetch.Alone(ctx)
	if err != nil || t == nil || !l.runs.Fits(t) {
		return false, err
	}
	l.runs.Dispatch()
	runtime.Gosched() // the runner begins here and now, and need not wait for another thread to wake up: 0.035 ms
	l.scan.StartedAlone()
	return true, nil
}

// want has the next round look for what has become due.
func (l *leader) want() { l.scan.Want() }

// doubt takes note that somebody has changed rows: running tasks may have been stopped, what others wait
// for may have been deleted, and one that waits may have another place in its lane.
func (l *leader) doubt() {
	l.scan.Changed()
	l.successors.Doubt()
	l.judge.Watch.Doubt()
}

// every is how often all that is due is looked at when nothing says that there is something.
func (l *leader) every() time.Duration {
	return min(l.wake.Every(l.poll()), l.target.Reset)
}

// clogged tells that so many ends wait to be written that no more tasks may be read.
func (l *leader) clogged() bool {
	most := 4 * l.live.Load().Run
	return l.ends.Heavy() || l.ends.Len() > most || l.ledger.Len() > most+ledger.Most
}

// nextDispatch is when a pause in a lane is over, and soon while a task that was read waits.
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

// What becomes of tasks is counted and logged here, and told to those who wait for them.

// ended takes note that the row of a task shows its end, or that it waits again.
func (l *leader) ended(e *ends.End, state string) {
	l.stats.Ends(state, 1)
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

// over tells the successors of a task that we forget it.
func (l *leader) over(o *run.Outcome) { l.successors.Over(o.Task.Row.ID) }

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (l *leader) counted(all []change.Changed) {
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

// superseded counts tasks of which another with their key waits.
func (l *leader) superseded(all []change.Changed) {
	l.counted(all)
	l.stats.Skips(target.Superseded, len(all))
}

// judged takes note of tasks of an old leader, or of lost sessions, whose rows show their end by now.
func (l *leader) judged(all []change.Changed) {
	for _, c := range all {
		if c.Empty {
			l.ends.Deletes.Later(c.ID)
		}
		if c.State == "GONE" {
			l.stats.Skips(target.Superseded, 1)
		}
	}
	l.counted(all)
}

// seen takes down what was seen of a run.
func (l *leader) seen(o run.Outcome) {
	l.ran(&o)
	if f := o.Failure(); f != nil && f.SQLState == fault.DiskFull && o.Task.Row.Remote == "" {
		l.disk.Doubt()
	}
	l.ends.Seen(o)
}

// ran counts a run of which the outcome is known.
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

// shownGroup is the name of a group, of a long one the beginning, for a line of the log.
func shownGroup(group string) string {
	if head := lane.Head(group); head != group {
		return head + "…"
	}
	return group
}

// readable is a text of the database's, as far as it can be read.
func (l *leader) readable(raw []byte) string {
	if l.control.Facts().Encoding == "UTF8" {
		return strings.ToValidUTF8(string(raw), "?")
	}
	return text.ASCII(string(raw))
}
