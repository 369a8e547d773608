package run

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Task is one whose row this controller has read, until its end is written.
type Task struct {
	lane.Ticket
	Row     Row
	Reader  int32          // pid of the control session that has read it
	Traits  *traits.Traits // nil: not looked at yet
	sizes   *Sizes         // of its texts, where they are long; nil: not asked for yet
	room    int64          // bytes that its long texts take up; 0: none
	TooLong bool           // a text of its is, and what follows on it may be much
	Again   int            // how often it had to run again for reasons of our own
	Marks   atomic.Bool    // a mark of it has been sent; the leader sets it before

	skippedSince time.Time // since when it comes first, and sessions that do not suit it go on with others; of the lanes' lock

	claimed atomic.Bool  // its row was prepared before its SQL began
	xact    atomic.Int64 // the transaction with which its row is prepared, or may be; 0: none

	joined atomic.Int64 // since when it counts among the instants, in nanoseconds of our clock; 0: it does not

	cancel atomic.Int32 // why it is to be cancelled, an exec.Reason; mu is held to set it

	mu      sync.Mutex
	session *exec.Session // while its SQL runs
	start   time.Time     // of that, by the server's clock
	exactly bool          // its effects and its end commit together
	open    func()        // gives up the session that is being opened; nil: none is
}

// need is what the task asks of its session.
func (t *Task) need() pool.Need {
	return pool.Need{
		Wishes: t.Row.Session, Remote: t.Row.Remote, Group: t.Row.Group, Reader: t.Reader,
		Lane: t.Lane, Max: t.Row.Max, Once: !t.Row.Rerun,
	}
}

// Examine looks into the input, once.
func (t *Task) Examine() {
	if t.Traits != nil {
		return
	}
	traits := traits.Examine(*t.Row.Input)
	t.Traits = &traits
}

// atomic tells whether the task runs in a transaction of ours, as far as its SQL shows: not on a
// remote, and not a CALL that commits inside, if it would have to run twice, with what is outside.
func (t *Task) atomic() bool {
	return t.Row.Remote == "" && (t.Traits == nil ||
		t.Traits.Atomic() && (t.Row.Rerun || !t.Traits.Calls || !t.Traits.Outside))
}

// light tells whether the task, by its row and input alone, may be a query that can be run once
// more.
func (t *Task) light() bool {
	if t.Row.Input == nil || t.Row.Data == nil || !t.Row.Single || len(t.Row.How.Settings) > 0 || t.Row.marksFirst() ||
		t.Row.Session.Count > 0 || t.Row.Session.Live > 0 || t.Again > 0 {
		return false
	}
	t.Examine()
	return t.Traits.Atomic() && t.Traits.Pipelines() && (!t.Row.How.Save || t.Traits.Inert)
}

// opens sets the function by which a cancel gives up the session that is being opened for the task;
// nil: none is any more. It tells whether a cancel has come before.
func (t *Task) opens(giveUp func()) (cancelled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = giveUp
	return t.cancelled() != exec.NotCancelled
}

// begin shows which session runs the task's SQL since when; a cancel that came before is carried
// out now.
func (t *Task) begin(s *exec.Session, start time.Time, exactly bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session, t.start, t.exactly = s, start, exactly
	if reason := t.cancelled(); reason != exec.NotCancelled {
		s.Cancel(reason)
	}
}

// end shows that the SQL does not run any more, or will not.
func (t *Task) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = nil // start stays
}

// Cancel cancels the task's SQL, now or as soon as it starts; a session that is being opened for it
// is given up.
func (t *Task) Cancel(reason exec.Reason) { t.stop(reason, true) }

// Withdraw cancels the task if a session is still being opened for it.
func (t *Task) Withdraw() { t.stop(exec.Drained, false) }

func (t *Task) stop(reason exec.Reason, begun bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancelled() != exec.NotCancelled || t.open == nil && !begun {
		return
	}
	t.cancel.Store(int32(reason))
	if t.open != nil {
		t.open()
	}
	if t.session != nil {
		t.session.Cancel(reason)
	}
}

// cancelled is why the task is to be cancelled, if it is.
func (t *Task) cancelled() exec.Reason { return exec.Reason(t.cancel.Load()) }

// Runs tells which backend runs the task, 0 when none does, since when, and whether exactly once.
func (t *Task) Runs() (pid int32, start time.Time, exactly bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != nil {
		pid = int32(t.session.PID)
	}
	return pid, t.start, t.exactly
}

// Xact is the transaction with which the task's row is prepared, or may be; 0: none.
func (t *Task) Xact() int64 { return t.xact.Load() }

// Claimed tells whether its row was prepared before its SQL began, and shows its session.
func (t *Task) Claimed() bool { return t.claimed.Load() }

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
