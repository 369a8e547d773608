package run

import (
	"sync"
	"sync/atomic"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/exec/traits"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Row is what is read of a task before it starts. It does not change, but for what comes at its
// start.
type Row struct {
	ID        int64
	Version   uint32 // xmin of the row
	MarkFirst bool   // it must be marked before it starts, whatever its SQL is
	Group     string
	Remote    string // "": the target's own database
	Max       int32
	Priority  int32
	Parent    *int64
	Plan      time.Time
	Late      time.Duration // after its plan it was inserted
	Key       *string
	Skipped   int32 // periods before it
	Attempt   int32
	Timeout   time.Duration
	Live      time.Duration
	Count     int32
	Save      bool
	Drift     bool
	Format    text.Format
	Rerun     bool
	Single    bool        // nothing follows its end: no repetition, no other task, no notification
	Suspect   bool        // the server has crashed more than once while it ran
	Input     *string     // nil: too long to be read with the others, as are maybe its names
	Data      *string     // likewise; empty when there is none
	Epoch     int64       // of the settings of databases and roles
	Settings  [][2]string // names and values that its session has for it alone

	Role   pool.Role     // under which it runs
	Barred *text.Failure // why it may not run under its role; nil: it may
}

// Task is one whose row this controller has read, until its end is written.
type Task struct {
	lane.Ticket
	Row     Row
	Leader  int32          // pid of the control session that has read it
	Shows   [][2]string    // what the sessions of its lane show
	Traits  *traits.Traits // nil: not looked at yet
	sizes   *Sizes         // of its texts, where they are long; nil: not asked for yet
	room    int64          // bytes that its long texts take up; 0: none
	TooLong bool           // a text of its is, and what follows on it may be much
	Again   int            // how often it had to run again for reasons of our own

	Atomic  bool          // of its runner: it runs in our transaction
	query   bool          // of its runner: it runs in our transaction on a remote, and must not write there
	ahead   bool          // of its runner: its row is prepared before its SQL begins, since that locks it
	bare    bool          // of its runner: the table has no column for its transaction, so that it is marked if it may write
	claim   Prepared      // of its runner: what became of that,
	refused *text.Failure // and why not
	watch   bool          // of its runner: it runs there likewise, and may, so that its like are known
	Marks   atomic.Bool   // a mark of it has been sent; the leader sets it before

	slighted time.Time // of its runner: since when it comes first, and sessions that do not suit it go on with others

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
		Remote: t.Row.Remote, Group: t.Row.Group, Role: t.Row.Role, Epoch: t.Row.Epoch, Leader: t.Leader,
		Lane: t.Lane, Max: t.Row.Max, Count: t.Row.Count, Live: t.Row.Live, Once: !t.Row.Rerun,
	}
}

// Ticket is what the lanes know of the task, but for when it was read and when it expires.
func (r *Row) Ticket(key lane.Key) lane.Ticket {
	return lane.Ticket{
		Lane: key, Rank: lane.Rank{ID: r.ID, Max: r.Max, Priority: r.Priority},
		Drift: r.Drift, Suspect: r.Suspect, Plan: r.Plan,
	}
}

// Examine looks into the input, once.
func (t *Task) Examine() {
	if t.Traits != nil {
		return
	}
	found := traits.Examine(*t.Row.Input)
	t.Described(&found)
}

// Described takes down what its input is like, as Examine says.
func (t *Task) Described(found *traits.Traits) {
	t.Traits = found
	t.Atomic = found.Atomic() && t.Row.Remote == "" &&
		(t.Row.Rerun || !found.Calls || !found.Outside) // a CALL that commits inside would have to run twice, with what is outside
}

// opens shows what gives up the session that is being opened for the task, nil: none is any more. A
// cancel does; it tells whether one has come.
func (t *Task) opens(giveUp func()) (cancelled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = giveUp
	return t.cancelled() != exec.NotCancelled
}

// Withdraw cancels the task if a session is still being opened for it.
func (t *Task) Withdraw() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open != nil {
		t.cancelWith(exec.Drained)
	}
}

// begin shows which session runs the task's SQL since when; a cancel that came before is carried
// out now.
func (t *Task) begin(s *exec.Session, start time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session, t.start, t.exactly = s, start, t.Once()
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
func (t *Task) Cancel(reason exec.Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cancelWith(reason)
}

// cancelWith does so; mu is held.
func (t *Task) cancelWith(reason exec.Reason) {
	if t.cancelled() != exec.NotCancelled {
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

// Once tells whether the task's effects happen exactly once, as far as its SQL shows.
func (t *Task) Once() bool { return t.Atomic && !t.Traits.Outside && !t.watch && !t.bare }

// Guarded tells whether the mark must be on the server's disk before the task starts: a crash that
// forgot it would have the task run twice, where it must not, or judge it as one that has had no
// effect.
func (t *Task) Guarded() bool { return !t.Once() || !t.Row.Rerun }

// needsMark tells whether the row must show WORK before the task starts: it is not exactly once, or
// must not run again, or it has met a lock on its row before.
func (t *Task) needsMark() bool {
	return t.Row.marksFirst() || !t.Atomic || t.watch || t.bare || t.Again > 0 || t.Traits.Outside
}

// marksFirst tells whether the row alone says so.
func (r *Row) marksFirst() bool { return r.MarkFirst || !r.Rerun || r.Suspect }
