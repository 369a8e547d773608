package run

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/lane"
)

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

// Sizes are those of the texts of a task, in bytes, and its names.
type Sizes struct {
	Group, Remote, Null, Input, Data int64
	Names                            [3]*string // nil: too long
}

// IsBehind tells a name that did not come with the others, but what stands for it.
func IsBehind(name string) bool { return strings.HasPrefix(name, "\x01") }

// learn asks for the names of a task that has long texts; false when its end is known by that.
func (r *runner) learn(t *Task) bool {
	r.flush() // nothing of ours stays open while we wait
	r.post()
	told := r.text(t, Names)
	if told.Sizes != nil {
		told.Refused = tooLong(told.Sizes, r.LongestText)
		t.TooLong = told.Refused != nil
	}
	if !told.OK || told.Refused != nil {
		r.turnAway(t, told.Refused)
		return false
	}
	t.sizes = told.Sizes
	names := told.Sizes.Names
	t.sizes.Names = [3]*string{}
	t.Row.Group, t.Row.Remote, t.Row.Format.Null = *names[0], *names[1], *names[2]
	t.Shows = r.Shows(t.Row.Group)
	return true
}

// text asks the leader for a text of the task.
func (r *runner) text(t *Task, which Text) Answer {
	pid := int32(0)
	if r.session != nil {
		pid = int32(r.session.PID)
	}
	return r.Leader.Text(r.Group.Context(), t, pid, which)
}

// turnAway ends a task whose texts cannot be had, or, without a failure, cannot be had now.
func (r *runner) turnAway(t *Task, failure *text.Failure) {
	o := Outcome{Task: t, Kind: Released}
	if failure != nil {
		o = Outcome{Task: t, Kind: Finished, Stop: r.Clock.Now(), Fault: failure}
	}
	if t.Marks.Load() && r.session != nil { // its row may show the session
		o.PID, o.Since = int32(r.session.PID), r.session.Since
	}
	r.note(o)
}

// nameLongest is the longest group, remote and null, in bytes.
const nameLongest = 64 << 10

// tooLong is the failure of a task with a text that is longer than may be; nil: there is none.
func tooLong(s *Sizes, most int64) *text.Failure {
	for _, one := range []struct {
		column     string
		size, most int64
		limit      string
	}{
		{"group", s.Group, nameLongest, "the most is"},
		{"remote", s.Remote, nameLongest, "the most is"},
		{"null", s.Null, nameLongest, "the most is"},
		{"input", s.Input, most, "data_limit of the target is"},
		{"data", s.Data, most, "data_limit of the target is"},
	} {
		if one.size > one.most {
			return text.NewFailure(fmt.Sprintf("column %q is too long", one.column), "54000",
				"DETAIL", fmt.Sprintf("It has %d bytes; %s %d.", one.size, one.limit, one.most))
		}
	}
	return nil
}

// load brings the long texts of a task, when there is room; false when its end is known by that.
func (r *runner) load(t *Task) bool {
	room := min(t.sizes.Input+t.sizes.Data, textsMost)
	if t.allowance().Acquire(r.Group.Context(), room) != nil {
		r.turnAway(t, nil)
		return false
	}
	t.room = room
	texts := [2]*string{}
	for i, which := range []Text{Input, Data} {
		told := r.text(t, which)
		if texts[i] = told.Text; !told.OK || told.Refused != nil || told.Text == nil {
			t.unload(nil)
			r.turnAway(t, told.Refused)
			return false
		}
	}
	t.Row.Input, t.Row.Data = texts[0], texts[1]
	return true
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
		t.Row.Group, t.Row.Remote, t.Row.Format.Null, t.Shows = lane.Brief(t.Row.Group), lane.Brief(t.Row.Remote), "", nil
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
