package work

import (
	"strings"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
)

// An end that a table refuses is written all the same, with less in it each time, whatever refuses
// it (a CHECK, a trigger, a domain, an index): a task whose end stands nowhere would run again and
// again. It undoes nothing: DONE stays DONE.

// What is left of an end, by how often it was lessened.
const (
	lessShort = iota + 1 // no output, no notice, and the beginning of the error
	lessState            // all of these stay as the row has them
	lessNothing

	shortMost = 500 // bytes
)

// lessen makes less of an end that was refused, by an error or (nil) silently; false when nothing
// is left. Of a character that the database does not have something else is written.
func (e *end) lessen(err error) bool {
	if fault.Of(err) == fault.Unsendable && !e.ascii {
		e.ascii = true
		return true
	}
	if e.lessened++; e.lessened == lessNothing && e.Kind == run.Finished && e.failure() != nil && !e.final { // it may be the wait for another try that is refused
		e.final, e.lessened = true, 0
	}
	return e.lessened < lessNothing
}

// keeps tells whether what is not said stays as the row has it: as it was prepared, or as it is.
func (e *end) keeps() bool { return e.Shed && e.lessened == 0 || e.lessened >= lessState }

// told are the output and the notice, as they are to be written.
func (e *end) told() (output, notice *string) {
	if e.Result == nil || e.Shed || e.lessened >= lessShort {
		return nil, nil
	}
	if notice = e.stored(e.Result.Notice); e.Kind == run.Stopped {
		return nil, notice
	}
	return e.stored(e.Result.Output), notice
}

// shown is a failure as it is to be written.
func (e *end) shown(failure *text.Failure) (message, sqlstate *string) {
	if failure == nil || e.lessened >= lessState {
		return nil, nil
	}
	if message = e.stored(&failure.Text); e.lessened >= lessShort {
		short := text.ASCII(*message)
		short = strings.TrimRight(short[:min(len(short), shortMost)], "\n\t")
		message = &short
	}
	return message, &failure.SQLState
}

// stored is a text as the database can store it; nil stays nil.
func (e *end) stored(value *string) *string {
	if value != nil && e.ascii {
		s := text.ASCII(*value)
		return &s
	}
	return value
}

// leaveAlone gives up a row that takes no end at all. It stays as it is for as long as we lead, or
// until somebody changes its state, and its lane is free. One that still says PLAN is run once
// more, and marked first: then it stays WORK. One that takes no mark either is tried again after a
// while.
func (l *loop) leaveAlone(e end, err error) {
	id := e.task.Row.ID
	shown := e.task.Marked || e.Xact != 0 // the row says WORK
	if !e.task.Marks.Load() && !shown {
		l.tries.Again(id)
		l.waitsAgain(e)
		return
	}
	l.log.Error().Err(err).Int64("id", id).
		Str("hint", "fix what refuses it, and set the row's state; until then the task may run again when another controller leads").
		Msg("table refuses every end of a task; row left unchanged")
	why := hold.Refuses
	if shown { // its task would run again
		why = hold.Stuck
	}
	l.holds.PutAfter(id, why, 0)
	l.gone(e)
}

// lesser logs what the table has refused of an end, once for each end.
func (l *loop) lesser(e *end, err error) {
	if e.lessened == lessShort {
		l.log.Warn().Err(err).Int64("id", e.task.Row.ID).Msg("the table refuses the end of a task; written with less")
	}
}
