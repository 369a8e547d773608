package run

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

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

// light tells whether nothing is known of a task by itself why it should be more than a query that
// may be run once more.
func (t *Task) light() bool {
	if t.Row.Input == nil || t.Row.Data == nil || !t.Row.Single || len(t.Row.How.Settings) > 0 || t.Row.marksFirst() ||
		t.Row.Session.Count > 0 || t.Row.Session.Live > 0 || t.Again > 0 {
		return false
	}
	t.Examine()
	return t.Traits.Atomic() && t.Traits.Pipelines() && (!t.Row.How.Save || t.Traits.Inert)
}

// opens shows what gives up the session that is being opened for the task, nil: none is any more. A
// cancel does; it tells whether one has come.
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

// Row is what is read of a task before it starts. It does not change, but for what comes at its
// start.
type Row struct {
	ID          int64
	Version     uint32 // xmin of the row
	MarkFirst   bool   // it must be marked before it starts, whatever its SQL is
	Group       string
	Remote      string // "": the target's own database
	Max         int32
	Priority    int32
	Parent      *int64
	Key         *string
	Attempt     int32
	Rerun       bool
	Single      bool          // nothing follows its end: no repetition, no other task, no notification
	Suspect     bool          // the server has crashed more than once while it ran
	Input       *string       // nil: too long to be read with the others, as are maybe its names
	Data        *string       // likewise; empty when there is none
	RoleFailure *text.Failure // why it may not run under its role; nil: it may
	Schedule    Schedule
	Session     pool.Wishes
	How         How
}

// Schedule says when a task is to start.
type Schedule struct {
	Plan    time.Time
	Late    time.Duration // after its plan it was inserted
	Skipped int32         // periods before it
	Drift   bool
}

// How says how the SQL of a task runs, and what its output looks like.
type How struct {
	Timeout  time.Duration
	Save     bool
	Settings [][2]string // names and values that its session has for it alone
	Format   text.Format
}

// Ticket is what the lanes know of the task, but for when it was read and when it expires.
func (r *Row) Ticket(key lane.Key) lane.Ticket {
	return lane.Ticket{
		Lane: key, Rank: lane.Rank{ID: r.ID, Max: r.Max, Priority: r.Priority},
		Drift: r.Schedule.Drift, Suspect: r.Suspect, Plan: r.Schedule.Plan,
	}
}

// marksFirst tells whether the row alone says so.
func (r *Row) marksFirst() bool { return r.MarkFirst || !r.Rerun || r.Suspect }

// Sizes are those of the texts of a task, in bytes, and its names.
type Sizes struct {
	Group, Remote, Null, Input, Data int64
	Names                            [3]*string // nil: too long
}

// IsStandIn tells what stands for a name that is too long to come with the others.
func IsStandIn(name string) bool { return strings.HasPrefix(name, "\x01") }
