package ends

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

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
	if e.Fault == nil && e.Result != nil {
		return e.Result.Failure
	}
	return e.Fault
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
	return f == nil || e.isFinal() || e.Kind == run.Stopped || f.SQLState == codeGivesUp
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
func (e *End) pause() (p pgtype.Interval) {
	if f := e.Failure(); f != nil && f.SQLState == codeLater {
		if interval, err := schedule.ParseInterval(f.Detail); err == nil && interval.Months <= pauseMonths &&
			interval.Days <= pauseDays && interval.Micros <= pauseMicros {
			p = pgtype.Interval{Months: int32(interval.Months), Days: int32(interval.Days), Microseconds: interval.Micros, Valid: true}
		}
	}
	return p
}
