package work

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/text"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/schedule"
	"pgtaskd/work/target"
)

// end is what the loop writes for a task. It begins as what was seen of the run, and may become
// something else: the table may refuse it, or somebody may have stopped the task.
type end struct {
	run.Outcome // as it was seen, and then as it is to be written
	task        *inflight.Task
	backoff     hold.Backoff // when it could not be written
	passed      bool         // the ledger has passed it over
	conflict    bool         // of a release: another transaction was in the way
	final       bool         // no retry: the table has refused another end
	ascii       bool         // as the database lacks a character
	lessened    int          // how often less was made of it, as the table has refused it
}

// endOf is what follows from an outcome of our task.
func endOf(o run.Outcome, t *inflight.Task) end { return end{Outcome: o, task: t} }

// failure is why the task has failed, nil when it has not.
func (e end) failure() *text.Failure {
	if e.Kind == run.Stopped {
		return stopFailure(e)
	}
	if e.Fault == nil && e.Result != nil {
		return e.Result.Failure
	}
	return e.Fault
}

// stopFailure says of a task that it was stopped.
func stopFailure(e end) *text.Failure {
	detail := "Its state was set to STOP while it ran."
	if e.Start.IsZero() {
		detail = "Its state was set to STOP before it had started."
	}
	input := ""
	if e.task.Row.Input != nil {
		input = *e.task.Row.Input
	}
	return text.NewFailure("canceling statement due to user request", "57014", "DETAIL", detail, "STATEMENT", input)
}

// readVersion is that of the row which the end may be written to; 0: only one that shows WORK. A crash
// of the server can give a version that it has forgotten to another row.
func (e *end) readVersion() uint32 {
	if e.task.Marked {
		return 0
	}
	return e.task.Row.Version
}

// begun is when the run began; one that never did has its stop.
func (e *end) begun() time.Time {
	if e.Start.IsZero() {
		return e.Stop
	}
	return e.Start
}

// exactly tells whether its effects happen exactly once.
func (e *end) exactly() bool { return e.task.Traits != nil && e.task.Once() }

// ended takes note that the row of a task shows its end, or that it waits again.
func (l *loop) ended(e end, state string) {
	l.stats.Ends(state, 1)
	l.successors.endedAs(e.task.Row.ID, state)
	if !l.log.Wants(state) {
		return
	}
	t := target.Line{ID: e.task.Row.ID, State: state, Group: shownGroup(e.task.Row.Group), Attempt: e.task.Row.Attempt, Start: e.Start, Stop: e.Stop}
	if e.task.Row.Key != nil {
		t.Key = *e.task.Row.Key
	}
	if failure := e.failure(); failure != nil && state != "DONE" {
		t.Error, t.SQLState = failure.Text, failure.SQLState
	}
	l.log.Task(t)
}

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (l *loop) counted(all []change.Changed) {
	for _, c := range all {
		l.stats.Ends(c.State, 1)
		l.successors.over(c.ID)
		l.successors.endedAs(c.ID, c.State)
		if !l.log.Wants(c.State) {
			continue
		}
		l.log.Task(target.Line{
			ID: c.ID, State: c.State, Group: shownGroup(l.readable(c.Group)), Key: l.readable(c.Key),
			SQLState: l.readable(c.SQLState), Error: l.readable(c.Error),
		})
	}
}

// shownGroup is the name of a group, of a long one the beginning, for a line of the log.
func shownGroup(group string) string {
	if head := lane.Head(group); head != group {
		return head + "…"
	}
	return group
}

// ran counts a run of which the outcome is known.
func (l *loop) ran(o *run.Outcome) {
	if o.Start.IsZero() || o.Kind == run.Released {
		return
	}
	row, late := &o.Task.Row, 0
	if row.Attempt == 1 {
		late = int(row.Skipped)
	}
	l.stats.Ran(row.Plan.Add(row.Late), o.Start, o.Stop, late)
}

// readable is a text of the database's, as far as it can be read.
func (l *loop) readable(raw []byte) string {
	if l.encoding() == "UTF8" {
		return strings.ToValidUTF8(string(raw), "?")
	}
	return text.ASCII(string(raw))
}

// noRetry tells whether the end is to be written even if the task has retries left.
func (e *end) noRetry() bool {
	f := e.failure()
	return f == nil || e.final || e.Kind == run.Stopped || f.SQLState == codeGivesUp
}

// What a task raises to say itself whether and when it is tried again.
const (
	codeGivesUp = "TK001" // not at all
	codeLater   = "TK002" // after the interval in its DETAIL, if it has retries left
)

// What a task may ask for at most, so that plan stays within its bounds.
const (
	pauseMonths = 12_000
	pauseDays   = 400_000
	pauseMicros = pauseDays * 24 * 3600 * 1_000_000
)

// pause is how long the task itself wants to wait for its next try; null: it has not said.
func (e *end) pause() (p pgtype.Interval) {
	if f := e.failure(); f != nil && f.SQLState == codeLater {
		if interval, err := schedule.ParseInterval(f.Detail); err == nil && interval.Months <= pauseMonths &&
			interval.Days <= pauseDays && interval.Micros <= pauseMicros {
			p = pgtype.Interval{Months: int32(interval.Months), Days: int32(interval.Days), Microseconds: interval.Micros, Valid: true}
		}
	}
	return p
}
