package run

import "time"

// note takes down the outcome of a task: it is known now, and what the task has done can be seen. A
// heavy one is told at once.
func (r *runner) note(o Outcome) {
	if o.Task == r.at.task {
		o.Exactly = r.at.once()
		r.at = attempt{}
	}
	r.shared.Profiles.leaves(o.Task)
	o.Task.forgetNames()
	o.Xact = o.Task.Xact()
	if r.untold = append(r.untold, o); o.Heavy {
		r.post()
	}
}

// post tells the leader of the outcomes that are known, and gives the slots of their tasks back.
func (r *runner) post() {
	for _, o := range r.untold {
		r.deliver(o)
	}
	clear(r.untold)
	r.untold = r.untold[:0]
}

// deliver tells the leader of an outcome, and gives the slot of its task back: that of a heavy one
// when it is written, so that there are no more of them than tasks that may run at once; that of
// one whose session is lost when its backend is gone. In a drain the session stays until the end of
// a marked task is written: whoever leads by then would take that task for cut off.
func (r *runner) deliver(o Outcome) {
	lanes := r.shared.Lanes
	switch {
	case o.Kind == Lost || o.Kind == Killed:
		r.shared.Leader.Outcome(o)
	case o.Heavy || o.Task.Marks.Load() && lanes.Slots.IsClosed():
		o.Written = make(chan struct{})
		r.shared.Leader.Outcome(o)
		r.abide(o.Written)
		lanes.Ended(o.Task, o.at())
	default:
		lanes.Ended(o.Task, o.at())
		r.shared.Leader.Outcome(o)
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
		case <-r.shared.Group.Context().Done():
			return
		case <-time.After(untouched):
			if r.session != nil {
				_ = r.session.Touch() // one that is gone is met by what follows
			}
		}
	}
}
