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

// over takes note that a task of ours is forgotten.
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
