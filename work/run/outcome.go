package run

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/lane"
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

// Long texts come when their task starts, as many as there is room for in the whole program, and go
// when the server has them: they are not kept while their task runs. A remote may take its time to
// take them, so its tasks have room of their own.

const (
	textsMost  = 16 << 20         // the room, in bytes
	textHead   = text.Limit + 1   // what is kept of a long input, for its errors
	sendingMax = 20 * time.Second // for a remote to take long texts
	sendingOwn = 2 * time.Minute  // for our own server, over a slow network
)

var ownTexts, remoteTexts = semaphore.NewWeighted(textsMost), semaphore.NewWeighted(textsMost)

// nameLongest is the longest group, remote and null, in bytes.
const nameLongest = 64 << 10

// tooLong is the failure of a task with a text that is longer than may be; nil: there is none.
func tooLong(s *Sizes, most int64) *text.Failure {
	columns := []string{"group", "remote", "null", "input", "data"}
	for i, size := range []int64{s.Group, s.Remote, s.Null, s.Input, s.Data} {
		limit, is := int64(nameLongest), "the most is"
		if i > 2 {
			limit, is = most, "data_limit of the target is"
		}
		if size > limit {
			return text.NewFailure(fmt.Sprintf("column %q is too long", columns[i]), "54000",
				"DETAIL", fmt.Sprintf("It has %d bytes; %s %d.", size, is, limit))
		}
	}
	return nil
}

// load brings the long texts of a task, when there is room; false when they cannot be had.
func (t *Task) load(ctx context.Context, ask func(Text) Answer) (refused *text.Failure, ok bool) {
	room := min(t.sizes.Input+t.sizes.Data, textsMost)
	if t.allowance().Acquire(ctx, room) != nil {
		return nil, false
	}
	t.room = room
	texts := [2]*string{}
	for i, which := range []Text{LongInput, LongData} {
		told := ask(which)
		if texts[i] = told.Text; !told.OK || told.Refused != nil || told.Text == nil {
			t.unload(nil)
			return told.Refused, false
		}
	}
	t.Row.Input, t.Row.Data = texts[0], texts[1]
	return nil, true
}

// unload lets go of long texts, which the server has, or is not to have.
func (t *Task) unload(spec *exec.Task) {
	if t.room == 0 {
		return
	}
	if input := t.Row.Input; input != nil && len(*input) > textHead {
		head := strings.Clone((*input)[:textHead])
		t.Row.Input = &head
	}
	t.Row.Data = nil // both come again should it be run again
	if spec != nil {
		spec.Input, spec.Usual = *t.Row.Input, exec.Usual{}
	}
	t.allowance().Release(t.room)
	t.room = 0
}

// forgetNames lets go of long names, when the task has ended.
func (t *Task) forgetNames() {
	if t.sizes != nil {
		t.Row.Group, t.Row.Remote, t.Row.How.Format.Null = lane.Brief(t.Row.Group), lane.Brief(t.Row.Remote), ""
	}
}

func (t *Task) allowance() *semaphore.Weighted {
	if t.Row.Remote == "" {
		return ownTexts
	}
	return remoteTexts
}

// sending is how long the server may take to take a task with long texts; 0: it has none.
func (t *Task) sending() time.Duration {
	switch {
	case t.room == 0:
		return 0
	case t.Row.Remote == "":
		return sendingOwn
	}
	return sendingMax
}
