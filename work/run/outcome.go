package run

import (
	"context"
	"strings"
	"time"

	"pgtaskd/exec"
	"pgtaskd/exec/text"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Outcome is what a runner has seen of a task that it is done with. Once told, it belongs to the
// leader.
type Outcome struct {
	Task    *Task
	Kind    Kind
	PID     int32     // backend that ran it; 0: none did
	Since   time.Time // start of that backend
	Start   time.Time // zero: its SQL has not begun
	Stop    time.Time
	Result  *exec.Result
	Fault   *text.Failure // replaces the result's, if the SQL is not the cause
	Closed  error         // why no session could be opened at a remote, or for the task's own role
	Delay   time.Duration // before it runs again
	Exactly bool          // its effects happen exactly once
	Xact    int64         // the transaction with which its row is prepared; 0: none
	Shed    bool          // the row has its texts by now,
	Less    *text.Failure // or the failure tells why it does not take them
	Queued  bool          // lost while another task was under way: it has not run, or its effects are gone
	Stays   bool          // the backend did not obey a cancel, and still exists
	Heavy   bool          // over HeavyFrom: its runner waits until it is written
	Written chan struct{} // the leader closes it when the end is written; nil: nobody waits
}

// Kind is the kind of an Outcome.
type Kind int

// The kinds of outcomes.
const (
	Finished Kind = iota // its end is to be written
	Refused              // rolled back: the row was changed, or something was in the way
	Released             // not run, or taken back: to PLAN
	Stopped              // cancelled because of a STOP
	Lost                 // cut off: the judge decides
	Killed               // a person, or the shutdown of the server, has terminated its session
)

// at returns when the task ended; zero: it has not run.
func (o Outcome) at() time.Time {
	if o.Start.IsZero() {
		return time.Time{}
	}
	return o.Stop
}

// Failure returns why the task has failed; nil: it has not.
func (o *Outcome) Failure() *text.Failure {
	if o.Fault == nil && o.Result != nil {
		return o.Result.Failure
	}
	return o.Fault
}

// Size returns roughly how many bytes are to be written.
func (o *Outcome) Size() (n int) {
	if o.Result != nil {
		n = Size(o.Result)
	}
	if o.Fault != nil {
		n += len(o.Fault.Text)
	}
	return n
}

// Size returns the bytes of the texts of a result.
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

// HeavyFrom is the largest outcome, in bytes, that is not heavy. Read-ahead limits how many of the
// others wait to be written.
const HeavyFrom = 64 << 10

// Leader is all that runners see of the leader of the target. Outcome and Wake return at once. The
// other methods wait until the leader has asked the server; if ctx ends, the answer is no.
type Leader interface {
	// Outcome tells the outcome of a task that the runner is done with.
	Outcome(o Outcome)
	// Mark makes the row show WORK for a session before the task starts.
	Mark(ctx context.Context, t *Task, m Marking) Answer
	// Text reads a long text of the row, or its names.
	Text(ctx context.Context, t *Task, pid int32, which Text) Answer
	// Prepare makes the row show the transaction that will commit next on the session. The failure
	// tells why the table refuses that.
	Prepare(ctx context.Context, t *Task, p Preparation) (Prepared, *text.Failure)
	// Leads asks the server, after the call, whether the leader still leads.
	Leads(ctx context.Context) bool
	// Wake says that a session is free.
	Wake()
}

// Marking says what the row of a task is to show before it starts: WORK, and the session.
type Marking struct {
	PID     int32
	Exactly bool // the effects of the run happen exactly once
	Guarded bool // the mark must be on the server's disk
}

// Text names the texts that Leader.Text reads.
type Text int

// The texts that a runner asks for.
const (
	LongNames Text = iota // and the sizes of all texts
	LongInput
	LongData
)

// Answer is the answer of Leader.Mark or Leader.Text.
type Answer struct {
	OK      bool
	Refused *text.Failure // the row does not take the mark, or the text cannot be read
	Sizes   *Sizes
	Text    *string // nil: there is none, or it is too long by now
}

// Role is the role under which a task runs.
type Role = pool.Role

// Preparation says what the row of a task is to show before its transaction commits: WORK, and the
// transaction.
type Preparation struct {
	PID            int32
	Since          time.Time // start of that backend
	Start, Stop    time.Time // zero: it has not stopped
	Xact           int64
	Place          string // on a remote, where that transaction is, as in xact_at
	Exactly        bool   // the effects of the run happen exactly once
	Output, Notice *string
	Claims         bool // its SQL has not begun, and will run in that transaction
}

// Prepared is the answer to a preparation.
type Prepared int

// The answers to a preparation. The transaction commits only after Taken.
const (
	Untaken     Prepared = iota // the row is not ours any more, or nobody leads
	Taken                       // the row shows the transaction, and this is committed
	OwnLock                     // the run itself has locked the row or the table
	OthersLock                  // another transaction has held a lock for too long
	Unprepared                  // the table refuses it: see the failure
	Unfenced                    // the remote did not make sure that it will remember the transaction
	Unreachable                 // the leader's connection was lost: the row may have taken it
)

// Row has the values that are read before a task starts. They do not change, except that long texts
// and names come at the start and go later.
type Row struct {
	ID          int64
	Version     uint32 // xmin of the row
	MarkFirst   bool   // it must be marked before it starts, whatever its SQL
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
	Input       *string       // nil: the texts, and maybe the names, are too long to be read with other tasks
	Data        *string       // nil: as with Input; empty: none
	RoleFailure *text.Failure // why it must not run under its role; nil: it may
	Schedule    Schedule
	Session     pool.Wishes
	How         How
}

// Schedule says when a task is to start.
type Schedule struct {
	Plan    time.Time
	Late    time.Duration // how long after its plan it was inserted
	Skipped int32         // periods skipped before it
	Drift   bool
}

// How says how the SQL of a task runs, and in which format its output is.
type How struct {
	Timeout  time.Duration
	Save     bool
	Settings [][2]string // names and values that its session has for this task only
	Format   text.Format
}

// Ticket returns the task's ticket for the lanes, without Read and Expires.
func (r *Row) Ticket(key lane.Key) lane.Ticket {
	return lane.Ticket{
		Lane: key, Rank: lane.Rank{ID: r.ID, Max: r.Max, Priority: r.Priority},
		Drift: r.Schedule.Drift, Suspect: r.Suspect, Plan: r.Schedule.Plan,
	}
}

// marksFirst tells whether the row requires a mark first, whatever its SQL.
func (r *Row) marksFirst() bool { return r.MarkFirst || !r.Rerun || r.Suspect }

// Sizes are the sizes of a task's texts, in bytes, and its names.
type Sizes struct {
	Group, Remote, Null, Input, Data int64
	Names                            [3]*string // nil: too long
}

// IsStandIn tells whether name is a stand-in for one that is too long to be read with other tasks.
func IsStandIn(name string) bool { return strings.HasPrefix(name, "\x01") }

// note keeps an outcome until the next post. The effects of the task are visible to others by now.
// note posts a heavy outcome at once.
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

// post tells the leader all noted outcomes, and gives the slots of their tasks back.
func (r *runner) post() {
	for _, o := range r.untold {
		r.deliver(o)
	}
	clear(r.untold)
	r.untold = r.untold[:0]
}

// deliver tells the leader an outcome, and gives the slot of its task back. A heavy outcome keeps
// the slot until it is written, so that there are never more heavy outcomes than slots. After the
// loss of a session, the leader gives the slot back once the backend is gone. In a drain, the
// session of a marked task stays until the end is written: otherwise the next leader would think
// that the task was cut off.
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

// untouched is how long a session may be silent while it waits until its task's end is written:
// another leader would end the session after 10 s.
const untouched = 4 * time.Second

// abide waits until an end is written, and keeps the session alive.
func (r *runner) abide(written <-chan struct{}) {
	for {
		select {
		case <-written:
			return
		case <-r.shared.Group.Context().Done():
			return
		case <-time.After(untouched):
			if r.session != nil {
				_ = r.session.Touch() // later steps notice if the session is gone
			}
		}
	}
}
