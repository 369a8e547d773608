package run

import (
	"time"

	"pgtaskd/exec"
)

// Outcome is what was seen of a task that a runner has done with. Nobody changes it after the
// runner has told it.
type Outcome struct {
	Task    *Task
	Kind    Kind
	PID     int32     // backend that ran it, 0: none did
	Since   time.Time // start of that backend
	Start   time.Time // zero: its SQL has not begun
	Stop    time.Time
	Result  *exec.Result
	Fault   *exec.Failure // instead of the result's, where the trouble is not the SQL's own
	Delay   time.Duration // before it runs again
	ForGood bool          // of a refusal: another run would be refused as well
	Aboard  bool          // lost while it was with the server behind another task: it has not run, or what it did is gone
	Stays   bool          // the backend did not obey when its run was cancelled, and is still there
	Heavy   bool          // its runner waits until it is written
	Written chan struct{} // to be closed then; nil: nobody waits
	Weight  int           // bytes of it that count as unwritten until Dispatcher.Wrote
}

// Kind says what became of a task.
type Kind int

// What becomes of a task.
const (
	Committed Kind = iota // its end is written already, with its effects
	Finished              // its end is to be written
	Refused               // it could not be written with the effects, which are rolled back: somebody has changed the row
	Released              // it has not run, or has been taken back: to PLAN
	Stopped               // cancelled because of a STOP
	Lost                  // cut off: what became of it is to be found out
	Killed                // its session was terminated: by a person, or by the end of the server
)

// at is when the task ended, zero when it has not run.
func (o Outcome) at() time.Time {
	if o.Start.IsZero() {
		return time.Time{}
	}
	return o.Stop
}

// size is that of what is to be written, roughly, in bytes.
func (o Outcome) size() (n int) {
	if o.Result != nil {
		n = Size(o.Result)
	}
	if o.Fault != nil {
		n += len(o.Fault.Text)
	}
	return n
}

// Size is that of the texts of a result, in bytes.
func Size(result *exec.Result) (n int) {
	for _, text := range []*string{result.Output, result.Notice} {
		if text != nil {
			n += len(*text)
		}
	}
	if result.Failure != nil {
		n += len(result.Failure.Text)
	}
	return n
}
