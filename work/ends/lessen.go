package ends

import (
	"strings"

	"pgtaskd/exec/text"
	"pgtaskd/work/run"
)

// An end that a table refuses is written all the same, with less in it each time, whatever refuses
// it (a CHECK, a trigger, a domain, an index): a task whose end stands nowhere would run again and
// again. It undoes nothing: DONE stays DONE.

// stage is how far an end has come. The table's refusals bring it on, and it never goes back.
type stage int

const (
	fresh      stage = iota // the ledger may write it
	passed                  // the ledger has passed it over: a statement of its own looks closer
	short                   // no output, no notice, and the beginning of the error
	bare                    // all of these stay as the row has them
	final                   // whole again, but of a task that has no retry: that may be what is refused
	finalShort              // and so on
	finalBare
	nothing // is left
)

// shortMost bounds the beginning of an error, in bytes.
const shortMost = 500

// lessen makes less of an end that was refused; false when nothing is left.
func (e *End) lessen() bool {
	switch e.stage {
	case fresh, passed:
		e.stage = short
	case bare:
		e.stage = nothing
		if e.Kind == run.Finished && e.Failure() != nil { // it may be the wait for another try that is refused
			e.stage = final
		}
	default:
		e.stage++
	}
	return e.stage < nothing
}

// isFinal tells that the task is not tried again, whatever its row says.
func (e *End) isFinal() bool { return e.stage >= final }

// isLess tells that less is written than was seen.
func (e *End) isLess() bool  { return e.isShort() || e.isBare() }
func (e *End) isShort() bool { return e.stage == short || e.stage == finalShort }
func (e *End) isBare() bool  { return e.stage == bare || e.stage == finalBare }

// keeps tells whether what is not said stays as the row has it: as it was prepared, or as it is.
func (e *End) keeps() bool { return e.Shed && !e.isLess() || e.isBare() }

// told are the output and the notice, as they are to be written.
func (e *End) told() (output, notice *string) {
	if e.Result == nil || e.Shed || e.isLess() {
		return nil, nil
	}
	if notice = e.stored(e.Result.Notice); e.Kind == run.Stopped {
		return nil, notice
	}
	return e.stored(e.Result.Output), notice
}

// shown is a failure as it is to be written.
func (e *End) shown(failure *text.Failure) (message, sqlstate *string) {
	if failure == nil || e.isBare() {
		return nil, nil
	}
	if message = e.stored(&failure.Text); e.isLess() {
		short := text.ASCII(*message)
		short = strings.TrimRight(short[:min(len(short), shortMost)], "\n\t")
		message = &short
	}
	return message, &failure.SQLState
}

// stored is a text as the database can store it; nil stays nil.
func (e *End) stored(value *string) *string {
	if value != nil && e.ascii {
		s := text.ASCII(*value)
		return &s
	}
	return value
}
