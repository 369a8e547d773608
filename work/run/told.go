package run

import (
	"time"

	"pgtaskd/work/pool"
)

// outcomes are those that a runner knows and has not told the leader yet: once the session lies
// ready, where no task follows.
type outcomes struct {
	shared *Shared
	late   []Outcome
}

// note takes down the outcome of a task: it is known now, and what the task has done can be seen.
func (n *outcomes) note(o Outcome) {
	n.shared.Profiles.leaves(o.Task)
	o.Task.forgetNames()
	o.Xact = o.Task.Xact()
	n.late = append(n.late, o)
}

// post tells the leader of the outcomes, and gives the slots of their tasks back.
func (n *outcomes) post(s *pool.Session) {
	for _, o := range n.late {
		n.deliver(o, s)
	}
	clear(n.late)
	n.late = n.late[:0]
}

// deliver tells the leader of an outcome, and gives the slot of its task back: that of a heavy one
// when it is written, so that there are no more of them than tasks that may run at once; that of
// one whose session is lost when its backend is gone. In a drain the session stays until the end of
// a marked task is written: whoever leads by then would take that task for cut off.
func (n *outcomes) deliver(o Outcome, s *pool.Session) {
	lanes := n.shared.Lanes
	switch {
	case o.Kind == Lost || o.Kind == Killed:
		n.shared.tell(o)
	case o.Heavy || o.Task.Marks.Load() && lanes.Slots.IsClosed():
		o.Written = make(chan struct{})
		n.shared.tell(o)
		n.abide(o.Written, s)
		lanes.Ended(o.Task, o.at())
	default:
		lanes.Ended(o.Task, o.at())
		n.shared.tell(o)
	}
}

// untouched is for how long a session stands still at most whose task's end is to be written: after
// 10 s another leader would end it.
const untouched = 4 * time.Second

// abide waits until an end is written, with the session.
func (n *outcomes) abide(written <-chan struct{}, s *pool.Session) {
	for {
		select {
		case <-written:
			return
		case <-n.shared.Group.Context().Done():
			return
		case <-time.After(untouched):
			if s != nil {
				_ = s.Touch() // one that is gone is met by what follows
			}
		}
	}
}
