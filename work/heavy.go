package work

import "pgtaskd/exec"

// Outputs take the most memory. A task whose end is large keeps its slot until that is written, so that there are no more of them than
// tasks that may run at once. Nothing of a session is open meanwhile.

// An end is heavy when it is longer than heavyFrom, or, where ends of heldMost are to be written already, than heavyThen, in bytes.
const (
	heavyFrom = 64 << 10
	heavyThen = 1 << 10
	heldMost  = 32 << 20

	relievedMost = 16 << 20 // of heavy ends that need no slot, as somebody has locked their rows
)

func (b *inbox) isHeavy(result *exec.Result) bool {
	n := size(result)
	return n > heavyFrom || n > heavyThen && b.held.Load() > heldMost
}

func (r *runner) isHeavy(result *exec.Result) bool { return r.inbox.isHeavy(result) }

// deliver tells the loop of an end, and gives the slot of its task back: that of a heavy one when it is written, that of one whose session is lost when
// its backend is gone. In a drain the session stays until the end of a marked task is written: whoever leads by then would take that task for cut off.
func (r *runner) deliver(e end) {
	switch {
	case e.kind == lost || e.kind == killed:
		r.inbox.end(e)
	case e.heavy || e.task.marks.Load() && r.lanes.IsClosed():
		e.written = make(chan struct{})
		r.inbox.end(e)
		select {
		case <-e.written:
		case <-r.crew.Context().Done():
		}
		r.lanes.Ended(e.task, e.at())
	default:
		r.lanes.Ended(e.task, e.at())
		r.inbox.end(e)
	}
}

// relieve gives the slot of a heavy end back whose row somebody has locked, where there are few of them: that may last.
func (l *loop) relieve(e *end) {
	if e.written != nil && l.relieved+e.weight <= relievedMost {
		close(e.written)
		e.written, e.relieved = nil, true
		l.relieved += e.weight
	}
}

// shed lets go of what a committed end need not hold any more: that there was output is all that counts.
func (r *runner) shed(e *end) {
	e.heavy = false
	if nothing := ""; e.result.Output != nil {
		e.result.Output = &nothing
	}
	e.result.Notice = nil
}

// ditch gives the session up under a query with a heavy end: what is behind it with the server would make more of them. It has had no effect, and
// what is behind it neither.
func (r *runner) ditch() {
	p := r.before
	r.before = nil
	behind := r.flights.end(r)
	r.finish(end{
		task: p.task, kind: finished, pid: int32(r.seat.session.PID), since: r.seat.session.Since, start: p.start, stop: p.result.Stop, result: p.result, heavy: true,
	})
	r.seat.session.Abandon()
	r.post()
	r.stranded(behind)
	r.leave()
}
