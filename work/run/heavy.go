package run

import "pgtaskd/exec"

// Outputs take the most memory. A task whose end is large keeps its slot until that is written, so
// that there are no more of them than tasks that may run at once. Nothing of a session is open
// meanwhile.

// An end is heavy when it is longer than HeavyFrom, or, where ends of heldMost are to be written
// already, than heavyThen, in bytes.
const (
	HeavyFrom = 64 << 10
	heavyThen = 1 << 10
	heldMost  = 32 << 20
)

func (r *runner) isHeavy(result *exec.Result) bool {
	n := Size(result)
	return n > HeavyFrom || n > heavyThen && r.unwritten.Load() > heldMost
}

// tell tells the leader of an outcome.
func (d *Dispatcher) tell(o Outcome) {
	o.Weight = o.size()
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
		select {
		case <-e.Written:
		case <-r.Group.Context().Done():
		}
		r.Lanes.Ended(e.Task, e.at())
	default:
		r.Lanes.Ended(e.Task, e.at())
		r.tell(e)
	}
}

// shed lets go of what a committed end need not hold any more: that there was output is all that
// counts.
func (r *runner) shed(e *Outcome) {
	e.Heavy = false
	if nothing := ""; e.Result.Output != nil {
		e.Result.Output = &nothing
	}
	e.Result.Notice = nil
}

// ditch gives the session up under a query with a heavy end: what is behind it with the server
// would make more of them. It has had no effect, and what is behind it neither.
func (r *runner) ditch() {
	p := r.before
	r.before = nil
	behind := r.pipelines.end(r)
	r.finish(Outcome{
		Task: p.task, Kind: Finished, PID: int32(r.session.PID), Since: r.session.Since, Start: p.start, Stop: p.result.Stop, Result: p.result, Heavy: true,
	})
	r.session.Abandon()
	r.post()
	r.stranded(behind)
	r.leave()
}
