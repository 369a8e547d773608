package work

import (
	"sync"
	"sync/atomic"
	"time"

	"pgtaskd/exec"
	"pgtaskd/work/lane"
)

// row is what is read of a task before it starts. It does not change, but for what comes at its start.
type row struct {
	ID       int64
	Version  uint32 // xmin of the row
	First    bool   // it must be marked before it starts, whatever its SQL is
	Group    string
	Remote   string // "": the target's own database
	Max      int32
	Priority int32
	Parent   *int64
	Plan     time.Time
	Late     time.Duration // after its plan it was inserted
	Key      *string
	Skipped  int32
	Attempt  int32
	Timeout  time.Duration
	Live     time.Duration
	Count    int32
	Save     bool
	Drift    bool
	Format   exec.Format
	Rerun    bool
	Single   bool    // nothing follows its end: no repetition, no other task, no notification
	Suspect  bool    // the server has crashed more than once while it ran
	Input    *string // nil: too long to be read with the others, as are maybe its names
	Data     *string // likewise; empty when there is none
	Epoch    int64   // of the settings of databases and roles
}

// task is one whose row this controller has read, until its end is written.
type task struct {
	lane.Ticket
	row    row
	leader int32        // pid of the control session that has read it
	shows  [][2]string  // what the sessions of its lane show
	traits *exec.Traits // nil: not looked at yet
	sizes  *sizes       // of its texts, where they are long; nil: not asked for yet
	room   int64        // that its long texts take up
	again  int          // how often we had to run it again for reasons of our own

	atomic  bool        // of its runner: it runs in our transaction
	wary    bool        // of its runner: its SQL takes our prepared statements away
	query   bool        // of its runner: it runs in our transaction on a remote, and must not write there
	image   *string     // of its runner: of its row before it began, where it may alter the table; nil: there is none
	watch   bool        // of its runner: it runs there likewise, and may, so that its like are known
	lone    bool        // of its runner: it has turned out not to be what its like are
	marked  bool        // of the loop: its row shows WORK
	noMark  bool        // of the loop: the table refuses that
	marking putOff      // of the loop: when the row has not taken the mark
	marks   atomic.Bool // a mark of it has been sent; the loop sets it before
	ending  bool        // of the loop: its end is known, and not yet written

	slighted time.Time // of its runner: since when it comes first, and sessions that do not suit it go on with others

	joined atomic.Int64 // since when it counts among the instants, in nanoseconds of our clock; 0: it does not

	mu      sync.Mutex
	session *exec.Session // while its SQL runs
	start   time.Time     // of that, by the server's clock
	exactly bool          // its effects and its end commit together
	cancel  exec.Reason   // it is to be cancelled
}

// ticket is what the lanes know of the task, but for when it was read and when it expires.
func (r *row) ticket(key lane.Key) lane.Ticket {
	return lane.Ticket{
		Lane: key, Rank: lane.Rank{ID: r.ID, Max: r.Max, Priority: r.Priority},
		Drift: r.Drift, Suspect: r.Suspect, Plan: r.Plan,
	}
}

// examine looks into the input, once.
func (t *task) examine() {
	if t.traits != nil {
		return
	}
	traits := exec.Examine(*t.row.Input)
	t.described(&traits)
}

// described takes down what its input is like, as Examine says.
func (t *task) described(traits *exec.Traits) {
	t.traits = traits
	t.atomic = traits.Atomic() && t.row.Remote == "" &&
		(t.row.Rerun || !traits.Calls || !traits.Outside) // a CALL that commits inside would have to run twice, with what is outside
}

// begin shows which session runs the task's SQL since when; a cancel that came before is carried out now.
func (t *task) begin(s *exec.Session, start time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session, t.start, t.exactly = s, start, t.once()
	if t.cancel != exec.NotCancelled {
		s.Cancel(t.cancel)
	}
}

// end shows that the SQL does not run any more.
func (t *task) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = nil // start stays
}

// stop cancels the task's SQL, now or as soon as it starts.
func (t *task) stop(reason exec.Reason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != exec.NotCancelled {
		return
	}
	t.cancel = reason
	if t.session != nil {
		t.session.Cancel(reason)
	}
}

// at tells which backend runs the task, 0 when none does, since when, and whether exactly once.
func (t *task) at() (pid int32, start time.Time, exactly bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.session != nil {
		pid = int32(t.session.PID)
	}
	return pid, t.start, t.exactly
}

// once tells whether the task's effects and its end commit together, as far as its SQL shows.
func (t *task) once() bool { return t.atomic && !t.traits.Outside && !t.watch }

// guarded tells whether the mark must be on the server's disk before the task starts: a crash that forgot it would have the task run twice, where it must not, or judge it as one that
// has had no effect.
func (t *task) guarded() bool { return !t.once() || !t.row.Rerun }

// needsMark tells whether the row must show WORK before the task starts: it is not exactly once, or must not run again, or the mark in the middle of
// it would disturb it.
func (t *task) needsMark() bool {
	return t.row.marksFirst() || !t.atomic || t.watch || t.alters() || t.traits.Isolation || t.traits.Outside
}

// marksFirst tells whether the row alone says so.
func (r *row) marksFirst() bool { return r.First || !r.Rerun || r.Suspect }

// alters tells whether the task's SQL may alter the table, so that each row is another version: it looks like it, or its end was refused before.
func (t *task) alters() bool { return t.again > 0 || t.traits.Alters }
