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

// End is what is written for a task. It starts as the outcome of the run. It changes if the table
// refuses it, or if somebody has stopped the task.
type End struct {
	run.Outcome // as it was seen, then as it is to be written
	Known       *inflight.Task
	stage       stage
	backoff     hold.Backoff // zero until the end is set aside; Wait is zero until a try has failed
	ascii       bool         // its texts are written in ASCII: the database lacks one of their characters
	crossed     bool         // the task is given back because another transaction was in the way
}

// Failure returns why the task has failed; nil: it has not.
func (e *End) Failure() *text.Failure {
	if e.Kind == run.Stopped {
		return e.stopFailure()
	}
	return e.Outcome.Failure()
}

// readVersion is the version that the row must still have; 0: the row must show WORK. After a crash
// the server can give the version of a lost row to another row.
func (e *End) readVersion() uint32 {
	if e.Known.Marked {
		return 0
	}
	return e.Task.Row.Version
}

// begun returns when the run began; if it never began, its stop.
func (e *End) begun() time.Time {
	if e.Start.IsZero() {
		return e.Stop
	}
	return e.Start
}

// noRetry reports whether the end is written even if the task has retries left.
func (e *End) noRetry() bool {
	f := e.Failure()
	return f == nil || e.stage >= final || e.Kind == run.Stopped || f.SQLState == codeGivesUp
}

const (
	codeGivesUp = "TK001" // a task raises this to get no retry,
	codeLater   = "TK002" // or a retry after the interval in DETAIL, if it has retries left

	pauseMonths = 12_000 // the longest pause that a task may ask for, so that plan stays in its range
	pauseDays   = 400_000
	pauseMicros = pauseDays * 24 * 3600 * 1_000_000

	shortMost = 500 // how much of an error is kept when it is shortened, in bytes
)

// pause is the delay that the task itself asks for before its next try; null: none.
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

// stage says how much of an end is still to be written. Each refusal by the table (a CHECK, a
// trigger, a domain, an index) moves the end to a later stage, which writes less: a task without a
// written end would run again and again. No stage undoes the effects of a run: DONE stays DONE.
type stage int

const (
	fresh      stage = iota // the ledger may write it
	passed                  // the ledger has passed it over: Step writes it
	short                   // no output, no notice, and the beginning of the error
	bare                    // output, notice and error stay as the row has them
	final                   // whole again, but without a retry: the table may refuse that
	finalShort              // as short
	finalBare
	nothing // nothing can be written
)

// lessen moves a refused end to the next stage; false: nothing is left.
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

// verdict says what to do with an end that was not written.
type verdict int

const (
	wait   verdict = iota // try again later
	again                 // try again at once, with less in it
	giveUp                // the row takes no end at all
	forget                // the row is not ours any more
)

// raisedMost is the longest wait for an error that looks temporary but was raised by SQL.
const raisedMost = time.Second

// hasFailed reports whether a try to write the end has failed.
func (e *End) hasFailed() bool { return e.backoff.Wait > 0 }

// refused decides what to do with an end that the table has refused.
func (e *End) refused(err error) verdict {
	switch class, raised := fault.Of(err), fault.Below(err); {
	case class.Lacks():
		e.backoff.Later(hold.Exhausted)
		return wait
	case class == fault.Slow && !e.hasFailed(), // the server itself may be slow, this once
		class.Passing() && (class.OfLocks() || !raised || e.backoff.Wait < raisedMost):
		e.backoff.Later(hold.Locked)
		return wait
	case class == fault.Unsendable && !e.ascii: // retry in ASCII: the database lacks a character
		e.ascii = true
		return again
	case e.lessen():
		return again
	}
	return giveUp
}

// passedOver decides what to do with an end that a statement has not written, without an error.
// free: we held the row's lock, so nobody was in the way.
func (e *End) passedOver(s inflight.Standing, free bool) verdict {
	switch {
	case s.Ours && s.Undone && e.Failure() == nil && e.Kind == run.Finished: // another server, now a standby, has answered COMMIT
		return forget // the next scan finds the row, and the judge asks the server's record
	case s.Ours && free: // a trigger leaves the end out
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

// isLess reports whether the row gets less than the outcome has.
func (e *End) isLess() bool { return e.stage == short || e.stage == finalShort || e.isBare() }
func (e *End) isBare() bool { return e.stage == bare || e.stage == finalBare }

// keeps reports whether the row keeps the texts that it has.
func (e *End) keeps() bool { return e.Shed && !e.isLess() || e.isBare() }

// told returns the output and the notice to write.
func (e *End) told() (output, notice *string) {
	if e.Result == nil || e.Shed || e.isLess() {
		return nil, nil
	}
	if notice = e.stored(e.Result.Notice); e.Kind == run.Stopped {
		return nil, notice
	}
	return e.stored(e.Result.Output), notice
}

// shown returns the error and SQLSTATE to write for a failure.
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

// stored returns a text that the database can store; nil stays nil.
func (e *End) stored(value *string) *string {
	if value != nil && e.ascii {
		s := text.ASCII(*value)
		return &s
	}
	return value
}

// stopFailure is the failure of a task that was stopped.
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
