package run

import "time"

// fits tells whether the task may run on the runner's session, and there are not enough at work on
// its like. One that comes first, but for another session, is not passed over for ever: then the
// runner takes nothing more, so that there is room.
func (r *runner) fits(t *Task) bool {
	switch {
	case r.yields || r.crowded(t):
		return false
	case r.session.Holds && r.session.Saved != t.Lane && r.Pool.Spare(t.need(), r.Limits.Load().Run):
		return false // the session holds another lane's state, and the task can have another session
	case r.session.Fits(t.need()):
		return true
	}
	now := time.Now()
	switch {
	case t.slighted.IsZero():
		t.slighted = now
	case now.Sub(t.slighted) >= slightMost:
		r.yields, t.slighted = true, now.Add(slightAgain) // one that makes room is enough, and the loop may take its time
	}
	return false
}

// slightMost is for how long sessions may go on with other tasks than the one that comes first, as
// opening or exchanging one takes some ms; slightAgain, for how much longer after one has made
// room.
const (
	slightMost  = 20 * time.Millisecond
	slightAgain = 100 * time.Millisecond
)
