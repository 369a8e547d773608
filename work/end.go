package work

import (
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/run"
)

// end is what the loop writes for a task. It begins as what was seen of the run, and may become
// something else: the table may refuse it, or somebody may have stopped the task.
type end struct {
	run.Outcome // as it was seen; it stays
	task        *task
	kind        run.Kind
	start       time.Time
	fault       *exec.Failure
	delay       time.Duration // of a release
	stays       bool          // its backend is still to be ended
	written     chan struct{} // to be closed when it is written; nil: nobody waits
	putOff                    // when it could not be written
	passed      bool          // turn.sql has passed it over
	refusals    int           // how often in a row its row has not taken it, and was neither changed nor locked
	version     uint32        // of the row, then
	usual       bool          // as isUsual tells, once the loop has it
	bare        bool          // no repetition: the table has refused the end with it
	final       bool          // no retry: the table has refused another end
	ascii       bool          // as the database lacks a character
	lessened    int           // how often less was made of it, as the table has refused it
	slot        bool          // it holds its slot until then
	relieved    bool          // it is heavy, and has given its slot back all the same
}

// endOf is what follows from an outcome of our task.
func endOf(o run.Outcome, t *task) end {
	return end{
		Outcome: o, task: t,
		kind: o.Kind, start: o.Start, fault: o.Fault, delay: o.Delay, stays: o.Stays, written: o.Written,
	}
}

// failure is why the task has failed, nil when it has not.
func (e end) failure() *exec.Failure {
	if e.fault == nil && e.Result != nil {
		return e.Result.Failure
	}
	return e.fault
}

// size is that of what is to be written, roughly, in bytes.
func (e end) size() (n int) {
	if e.Result != nil {
		n = run.Size(e.Result)
	}
	if e.fault != nil {
		n += len(e.fault.Text)
	}
	return n
}

// relieve gives the slot of a heavy end back whose row somebody has locked, where there are few of
// them: that may last.
func (l *loop) relieve(e *end) {
	if e.written != nil && l.relieved+e.Weight <= relievedMost {
		close(e.written)
		e.written, e.relieved = nil, true
		l.relieved += e.Weight
	}
}

// relievedMost is how many bytes of heavy ends need no slot.
const relievedMost = 16 << 20
