package work

import (
	"strings"

	"pgtaskd/exec/text"
	"pgtaskd/work/change"
	"pgtaskd/work/ends"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// ended takes note that the row of a task shows its end, or that it waits again.
func (l *loop) ended(e *ends.End, state string) {
	l.stats.Ends(state, 1)
	l.successors.EndedAs(e.Task.Row.ID, state)
	if !l.log.Wants(state) {
		return
	}
	t := target.Line{ID: e.Task.Row.ID, State: state, Group: shownGroup(e.Task.Row.Group), Attempt: e.Task.Row.Attempt, Start: e.Start, Stop: e.Stop}
	if e.Task.Row.Key != nil {
		t.Key = *e.Task.Row.Key
	}
	if failure := e.Failure(); failure != nil && state != "DONE" {
		t.Error, t.SQLState = failure.Text, failure.SQLState
	}
	l.log.Task(t)
}

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (l *loop) counted(all []change.Changed) {
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
		late = int(row.Schedule.Skipped)
	}
	l.stats.Ran(row.Schedule.Plan.Add(row.Schedule.Late), o.Start, o.Stop, late)
}

// readable is a text of the database's, as far as it can be read.
func (l *loop) readable(raw []byte) string {
	if l.encoding() == "UTF8" {
		return strings.ToValidUTF8(string(raw), "?")
	}
	return text.ASCII(string(raw))
}

// superseded counts tasks of which another with their key waits.
func (l *loop) superseded(all []change.Changed) {
	l.counted(all)
	l.stats.Skips(target.Superseded, len(all))
}

// over takes note that a task of ours is forgotten.
func (l *loop) over(o *run.Outcome) {
	l.runs.Wrote(*o)
	l.successors.Over(o.Task.Row.ID)
	l.looked.count++
}

// judged takes note of tasks of an old leader, or of lost sessions, whose rows show their end by now.
func (l *loop) judged(all []change.Changed) {
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

// isForgotten tells an end that the server may have forgotten in its last crash, with what it stands
// for: the row may have another version by that number, and effects whose commit did not wait for the
// disk are lost. The task waits still, or is found cut off.
func (l *loop) isForgotten(e *ends.End) bool {
	if l.crashed == nil || e.Kind != run.Finished || !e.Stop.Before(*l.crashed) ||
		e.Task.Marks.Load() && !(l.control.Facts().Lazy && e.Task.Row.Remote == "") {
		return false
	}
	l.want()
	return true
}
