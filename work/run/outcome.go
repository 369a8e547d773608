package run

import (
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
)

// Outcome is what was seen of a task that a runner has done with. It belongs to the leader once the
// runner has told it.
type Outcome struct {
	Task    *Task
	Kind    Kind
	PID     int32     // backend that ran it, 0: none did
	Since   time.Time // start of that backend
	Start   time.Time // zero: its SQL has not begun
	Stop    time.Time
	Result  *exec.Result
	Fault   *text.Failure // instead of the result's, where the trouble is not the SQL's own
	Delay   time.Duration // before it runs again
	Exactly bool          // its effects happen exactly once
	Xact    int64         // the transaction with which its row is prepared; 0: none
	Shed    bool          // the row has its texts by now,
	Less    *text.Failure // or why it does not take them
	Queued  bool          // lost while it was with the server after another task: it has not run, or what it did is gone
	Stays   bool          // the backend did not obey when its run was cancelled, and is still there
	Heavy   bool          // its runner waits until it is written
	Written chan struct{} // to be closed then; nil: nobody waits
}

// Kind says what became of a task.
type Kind int

// What becomes of a task.
const (
	Finished Kind = iota // its end is to be written
	Refused              // its effects are rolled back: the row was changed, or something was in the way
	Released             // it has not run, or has been taken back: to PLAN
	Stopped              // cancelled because of a STOP
	Lost                 // cut off: what became of it is to be found out
	Killed               // its session was terminated: by a person, or by the end of the server
)

// at is when the task ended, zero when it has not run.
func (o Outcome) at() time.Time {
	if o.Start.IsZero() {
		return time.Time{}
	}
	return o.Stop
}

// Size is that of what is to be written, roughly, in bytes.
func (o *Outcome) Size() (n int) {
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

// HeavyFrom is the size from which on an outcome is heavy, in bytes. How many others wait to be
// written follows from how far ahead tasks are read.
const HeavyFrom = 64 << 10
