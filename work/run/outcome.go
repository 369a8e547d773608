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
	Xact    int64         // the transaction with which its row is prepared; 0: none
	Shed    bool          // the row has its texts by now,
	Less    *text.Failure // or why it does not take them
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

// note takes down the end of a task: it is known now, and what the task has done can be seen.
func (r *runner) note(e Outcome) {
	r.leaves(e.Task)
	if r.at == e.Task {
		r.at = nil
	}
	e.Task.forgetNames()
	e.Xact = e.Task.Xact()
	r.late = append(r.late, e)
}

// post tells the loop of the ends that are known, and gives the slots of their tasks back.
func (r *runner) post() {
	for _, e := range r.late {
		r.deliver(e)
	}
	r.late = nil
}

// Outputs take the most memory. A task whose end is large keeps its slot until that is written, so
// that there are no more of them than tasks that may run at once. Nothing of a session is open
// meanwhile.

// An end is heavy when it is longer than HeavyFrom, in bytes, or where ends of heldMost are to be
// written already.
const (
	HeavyFrom = 64 << 10
	heldMost  = 32 << 20
)

func (r *runner) isHeavy(result *exec.Result) bool {
	return Size(result) > HeavyFrom || r.unwritten.Load() > heldMost
}

// tell tells the leader of an outcome.
func (d *Dispatcher) tell(o Outcome) {
	o.Weight = o.Size()
	d.unwritten.Add(int64(o.Weight))
	d.Leader.Outcome(o)
}

// Wrote counts an outcome out whose end is written.
func (d *Dispatcher) Wrote(o Outcome) { d.unwritten.Add(-int64(o.Weight)) }

// deliver tells the loop of an end, and gives the slot of its task back: that of a heavy one when
// it is written, that of one whose session is lost when its backend is gone. In a drain the session
// stays until the end of a marked task is written: whoever leads by then would take that task for
// cut off.
func (r *runner) deliver(e Outcome) {
	switch {
	case e.Kind == Lost || e.Kind == Killed:
		r.tell(e)
	case e.Heavy || e.Task.Marks.Load() && r.Lanes.IsClosed():
		e.Written = make(chan struct{})
		r.tell(e)
		r.abide(e.Written)
		r.Lanes.Ended(e.Task, e.at())
	default:
		r.Lanes.Ended(e.Task, e.at())
		r.tell(e)
	}
}

// untouched is for how long a session stands still at most whose task's end is to be written: after
// 10 s another leader would end it.
const untouched = 4 * time.Second

// abide waits until an end is written, with the session.
func (r *runner) abide(written <-chan struct{}) {
	for {
		select {
		case <-written:
			return
		case <-r.Group.Context().Done():
			return
		case <-time.After(untouched):
			if r.session != nil {
				_ = r.session.Touch() // one that is gone is met by what follows
			}
		}
	}
}

// shed lets go of what the row has by now: that there was output is all that counts.
func shed(result *exec.Result) {
	if nothing := ""; result.Output != nil {
		result.Output = &nothing
	}
	result.Notice = nil
}
