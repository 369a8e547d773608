package work

import (
	"strings"

	"pgtaskd/exec/text"
	"pgtaskd/work/after"
	"pgtaskd/work/change"
	"pgtaskd/work/ends"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// tally counts and logs what becomes of tasks, and tells those who wait for them.
type tally struct {
	log      *target.Log
	stats    *target.Stats
	after    *after.Successors
	encoding func() string  // of the database
	empty    func(id int64) // the row has nothing to show, and is to be deleted
}

// ended takes note that the row of a task shows its end, or that it waits again.
func (t *tally) ended(e *ends.End, state string) {
	t.stats.Ends(state, 1)
	t.after.EndedAs(e.Task.Row.ID, state)
	if !t.log.Wants(state) {
		return
	}
	line := target.Line{ID: e.Task.Row.ID, State: state, Group: shownGroup(e.Task.Row.Group), Attempt: e.Task.Row.Attempt, Start: e.Start, Stop: e.Stop}
	if e.Task.Row.Key != nil {
		line.Key = *e.Task.Row.Key
	}
	if failure := e.Failure(); failure != nil && state != "DONE" {
		line.Error, line.SQLState = failure.Text, failure.SQLState
	}
	t.log.Task(line)
}

// counted takes note of tasks that have ended, or wait again, without a run of ours.
func (t *tally) counted(all []change.Changed) {
	for _, c := range all {
		t.stats.Ends(c.State, 1)
		t.after.Over(c.ID)
		t.after.EndedAs(c.ID, c.State)
		if !t.log.Wants(c.State) {
			continue
		}
		t.log.Task(target.Line{
			ID: c.ID, State: c.State, Group: shownGroup(t.readable(c.Group)), Key: t.readable(c.Key),
			SQLState: t.readable(c.SQLState), Error: t.readable(c.Error),
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
func (t *tally) ran(o *run.Outcome) {
	if o.Start.IsZero() || o.Kind == run.Released {
		return
	}
	row, late := &o.Task.Row, 0
	if row.Attempt == 1 {
		late = int(row.Schedule.Skipped)
	}
	t.stats.Ran(row.Schedule.Plan.Add(row.Schedule.Late), o.Start, o.Stop, late)
}

// readable is a text of the database's, as far as it can be read.
func (t *tally) readable(raw []byte) string {
	if t.encoding() == "UTF8" {
		return strings.ToValidUTF8(string(raw), "?")
	}
	return text.ASCII(string(raw))
}

// superseded counts tasks of which another with their key waits.
func (t *tally) superseded(all []change.Changed) {
	t.counted(all)
	t.stats.Skips(target.Superseded, len(all))
}

// judged takes note of tasks of an old leader, or of lost sessions, whose rows show their end by now.
func (t *tally) judged(all []change.Changed) {
	for _, c := range all {
		if c.Empty {
			t.empty(c.ID)
		}
		if c.State == "GONE" {
			t.stats.Skips(target.Superseded, 1)
		}
	}
	t.counted(all)
}
