package ends

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
	"pgtaskd/work/schedule"
)

// End is what is written for a task. It begins as what was seen of the run, and may become something
// else: the table may refuse it, or somebody may have stopped the task.
type End struct {
	run.Outcome // as it was seen, and then as it is to be written
	Known       *inflight.Task
	stage       stage
	backoff     hold.Backoff // when it could not be written
	ascii       bool         // its texts are written without what the database lacks
	crossed     bool         // of one that is given back: another transaction was in the way
}

// Failure is why the task has failed, nil when it has not.
func (e *End) Failure() *text.Failure {
	if e.Kind == run.Stopped {
		return e.stopFailure()
	}
	return e.Outcome.Failure()
}

// readVersion is that of the row which the end may be written to; 0: only one that shows WORK. A crash
// of the server can give a version that it has forgotten to another row.
func (e *End) readVersion() uint32 {
	if e.Known.Marked {
		return 0
	}
	return e.Task.Row.Version
}

// begun is when the run began; one that never did has its stop.
func (e *End) begun() time.Time {
	if e.Start.IsZero() {
		return e.Stop
	}
	return e.Start
}

// noRetry tells whether the end is to be written even if the task has retries left.
func (e *End) noRetry() bool {
	f := e.Failure()
	return f == nil || e.stage >= final || e.Kind == run.Stopped || f.SQLState == codeGivesUp
}

const (
	codeGivesUp = "TK001" // a task raises it: it is not tried again,
	codeLater   = "TK002" // or after the interval in its DETAIL, if it has retries left

	pauseMonths = 12_000 // a task may ask for no more, so that plan stays within its bounds
	pauseDays   = 400_000
	pauseMicros = pauseDays * 24 * 3600 * 1_000_000

	shortMost = 500 // bounds the beginning of an error, in bytes
)

// pause is how long the task itself wants to wait for its next try; null: it has not said.
func (e *End) pause() (p pgtype.Interval) {
	f := e.Failure()
	if f == nil || f.SQLState != codeLater {
		return p
	}
	i, err := schedule.ParseInterval(f.Detail)
	if err == nil && i.Months <= pauseMonths && i.Days <= pauseDays && i.Micros <= pauseMicros {
		p = pgtype.Interval{Months: int32(i.Months), Days: int32(i.Days), Microseconds: i.Micros, Valid: true}
	}
	return p
}

// stage is how far an end has come. Each refusal by the table (a CHECK, a trigger, a domain, an
// index) moves the end to a later stage, which writes less: a task without a written end would run
// again and again. No stage undoes what the run has done: DONE stays DONE.
type stage int

const (
	fresh      stage = iota // the ledger may write it
	passed                  // the ledger has passed it over: a statement of its own looks closer
	short                   // no output, no notice, and the beginning of the error
	bare                    // all of these stay as the row has them
	final                   // whole again, but there is no retry: that may be what is refused
	finalShort              // and so on
	finalBare
	nothing // is left
)

// lessen makes less of an end that was refused; false when nothing is left.
func (e *End) lessen() bool {
	switch e.stage {
	case fresh, passed:
		e.stage = short
	case bare:
		e.stage = nothing
		if e.Kind == run.Finished && e.Failure() != nil {
			e.stage = final
		}
	default:
		e.stage++
	}
	return e.stage < nothing
}

// verdict is what becomes of an end that was not written.
type verdict int

const (
	wait   verdict = iota // it is tried again, later
	again                 // at once, with less in it
	giveUp                // the row takes no end at all
	forget                // the row is not ours any more
)

// raisedMost is how long an end waits for an error that SQL has raised and that only looks as if it passed.
const raisedMost = time.Second

// refused decides what becomes of an end that the table has refused by that error.
func (e *End) refused(err error) verdict {
	switch class := fault.Of(err); {
	case class.Lacks():
		e.backoff.Later(hold.Exhausted)
		return wait
	case class == fault.Locked,
		class == fault.Slow && e.backoff.Wait == 0, // the server itself may be, this once
		class.Passing() && (class.OfLocks() || !fault.Below(err) || e.backoff.Wait < raisedMost):
		e.backoff.Later(hold.Locked)
		return wait
	case class == fault.Unsendable && !e.ascii: // something else is written for a character that the database lacks
		e.ascii = true
		return again
	case e.lessen():
		return again
	}
	return giveUp
}

// passedOver decides what becomes of an end that a statement has not written, without an error. free:
// we had locked the row, so nobody was in the way.
func (e *End) passedOver(s inflight.Standing, free bool) verdict {
	switch {
	case s.Ours && free: // a trigger leaves it out
		if !e.lessen() {
			return giveUp
		}
		return wait
	case s.Ours:
		e.backoff.Later(hold.Locked)
		return wait
	case s.Stopping && e.Kind != run.Stopped:
		e.Kind = run.Stopped
		return wait
	}
	return forget
}

// isLess tells that the row gets less than the outcome has.
func (e *End) isLess() bool { return e.stage == short || e.stage == finalShort || e.isBare() }
func (e *End) isBare() bool { return e.stage == bare || e.stage == finalBare }

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

// stopFailure says of a task that it was stopped.
func (e *End) stopFailure() *text.Failure {
	detail := "Its state was set to STOP while it ran."
	if e.Start.IsZero() {
		detail = "Its state was set to STOP before it had started."
	}
	input := ""
	if e.Task.Row.Input != nil {
		input = *e.Task.Row.Input
	}
	return text.NewFailure("canceling statement due to user request", "57014", "DETAIL", detail, "STATEMENT", input)
}
