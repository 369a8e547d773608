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
