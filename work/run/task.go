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

// Task is a task whose row this controller has read, until its end is written.
type Task struct {
	lane.Ticket
	Row     Row
	Reader  int32          // process id of the control session that has read it
	Traits  *traits.Traits // nil: not examined yet
	sizes   *Sizes         // of its long texts; nil: not asked for yet
	room    int64          // bytes that its long texts hold of textsMost; 0: none
	TooLong bool           // a text is too long, so writing what follows may take long
	Again   int            // how often it had to run again for reasons of our own
	Marks   atomic.Bool    // a mark was or will be sent; the leader sets it before

	skippedSince time.Time // since when runners pass over it though it comes first; guarded by the lanes' lock

	claimed atomic.Bool  // its row was prepared before its SQL began
	xact    atomic.Int64 // the transaction with which its row is, or may be, prepared; 0: none

	joined atomic.Int64 // since when it counts as an instant, in nanoseconds of our clock; 0: it does not

	cancel atomic.Int32 // why it is to be cancelled, an exec.Reason; set under mu

	mu      sync.Mutex
	session *exec.Session // that runs its SQL; nil: none
	start   time.Time     // when its SQL began, by the server's clock
	exactly bool          // its effects happen exactly once
	open    func()        // gives up the session that is being opened; nil: none is
}

// need returns what the task requires of its session.
func (t *Task) need() pool.Need {
	return pool.Need{
		Wishes: t.Row.Session, Remote: t.Row.Remote, Group: t.Row.Group, Reader: t.Reader,
		Lane: t.Lane, Max: t.Row.Max, Once: !t.Row.Rerun,
	}
}

// Examine finds the traits of the input, once.
func (t *Task) Examine() {
	if t.Traits != nil {
		return
	}
	traits := traits.Examine(*t.Row.Input)
	t.Traits = &traits
}

// atomic tells whether the task can run in a transaction of ours, judged by its SQL: not a CALL with effects outside of transactions if the task must not run twice (a CALL that
// commits inside fails in our transaction, and runs again without).
func (t *Task) atomic() bool {
	return t.Traits == nil || t.Traits.Atomic() && (t.Row.Rerun || !t.Traits.Calls || !t.Traits.Outside)
}

// light tells whether the row and the input allow the task to be a query that can run once more.
func (t *Task) light() bool {
	if t.Row.Input == nil || t.Row.Data == nil || !t.Row.Single || len(t.Row.How.Settings) > 0 || t.Row.marksFirst() ||
		t.Row.Session.Count > 0 || t.Row.Session.Live > 0 || t.Again > 0 {
		return false
	}
	t.Examine()
	return t.Traits.Atomic() && t.Traits.Pipelines() && (!t.Row.How.Save || t.Traits.Inert)
}

// opens sets the function with which a cancel gives up the session that is being opened for the
// task; nil: none is any more. It tells whether the task was cancelled before.
func (t *Task) opens(giveUp func()) (cancelled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = giveUp
	return t.cancelled() != exec.NotCancelled
}

// begin records which session runs the task's SQL, and since when. If a cancel came before, begin
// cancels the run.
func (t *Task) begin(s *exec.Session, start time.Time, exactly bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session, t.start, t.exactly = s, start, exactly
	if reason := t.cancelled(); reason != exec.NotCancelled {
		s.Cancel(reason)
	}
}

// end records that the SQL has ended.
func (t *Task) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = nil // start stays
}

// Cancel cancels the task's SQL, now or as soon as it starts, and gives up a session that is being
// opened for it.
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

// cancelled returns why the task is to be cancelled, if it is.
func (t *Task) cancelled() exec.Reason { return exec.Reason(t.cancel.Load()) }

// Runs returns which backend runs the task (0: none), since when, and whether exactly once.
func (t *Task) Runs() (pid int32, start time.Time, exactly bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != nil {
		pid = int32(t.session.PID)
	}
	return pid, t.start, t.exactly
}

// Xact returns the transaction with which the task's row is, or may be, prepared; 0: none.
func (t *Task) Xact() int64 { return t.xact.Load() }

// Claimed tells whether the row was prepared before the SQL began, and so shows the session.
func (t *Task) Claimed() bool { return t.claimed.Load() }

// Long texts are read when their task starts, as soon as the program has room for them, and dropped
// when the server has them: they are not kept while the task runs. A remote may be slow to take
// them, so tasks of remotes have their own room.

const (
	textsMost  = 16 << 20         // each room, in bytes
	textHead   = text.Limit + 1   // what is kept of a long input, for its errors
	sendingMax = 20 * time.Second // for a remote to take long texts
	sendingOwn = 2 * time.Minute  // for our own server, over a slow network
)

var ownTexts, remoteTexts = semaphore.NewWeighted(textsMost), semaphore.NewWeighted(textsMost)

// nameLongest is the longest group, remote or null, in bytes.
const nameLongest = 64 << 10

// tooLong returns the failure of a task with a text that is too long; nil: no text is.
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

// load waits for room and reads the long texts of a task; false: it could not read them.
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

// unload drops long texts once the server has them, or will not get them.
func (t *Task) unload(spec *exec.Task) {
	if t.room == 0 {
		return
	}
	if input := t.Row.Input; input != nil && len(*input) > textHead {
		head := strings.Clone((*input)[:textHead])
		t.Row.Input = &head
	}
	t.Row.Data = nil // if the task runs again, it reads both texts again
	if spec != nil {
		spec.Input, spec.Usual = *t.Row.Input, exec.Usual{}
	}
	t.allowance().Release(t.room)
	t.room = 0
}

// forgetNames drops long names when the task has ended.
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

// sending returns how long a server may take to receive the task; 0: it has no long texts.
func (t *Task) sending() time.Duration {
	switch {
	case t.room == 0:
		return 0
	case t.Row.Remote == "":
		return sendingOwn
	}
	return sendingMax
}
