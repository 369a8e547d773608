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

// Failure is why the task has failed; nil: it has not.
func (o *Outcome) Failure() *text.Failure {
	if o.Fault == nil && o.Result != nil {
		return o.Result.Failure
	}
	return o.Fault
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

// Leader is all that runners see of the one who leads the target. Outcome and Wake return at once.
// The others wait until the leader has been at the server, and answer no when ctx ends.
type Leader interface {
	// Outcome tells what was seen of a task that the runner has done with.
	Outcome(o Outcome)
	// Mark has the row show WORK for a session before the task starts.
	Mark(ctx context.Context, t *Task, m Marking) Answer
	// Text brings a long text of the row, or its names.
	Text(ctx context.Context, t *Task, pid int32, which Text) Answer
	// Prepare has the row show the transaction that is to commit next on that session; the failure
	// tells why the table refuses it.
	Prepare(ctx context.Context, t *Task, p Preparation) (Prepared, *text.Failure)
	// Leads tells whether it leads, as the server says after the question.
	Leads(ctx context.Context) bool
	// Wake tells it that a session is free.
	Wake()
}

// Marking is what the row of a task is to show before it starts: WORK, and the session.
type Marking struct {
	PID     int32
	Exactly bool // the effects of the run happen exactly once
	Guarded bool // the mark must be on the server's disk
}

// Text names what the leader is to bring.
type Text int

// What a leader brings.
const (
	LongNames Text = iota // with the sizes of the texts
	LongInput
	LongData
)

// Answer is what the leader says.
type Answer struct {
	OK      bool
	Refused *text.Failure // the row does not take the mark, or the text cannot be read
	Sizes   *Sizes
	Text    *string // nil: it is too long by now, or there is none
}

// Preparation is what the row of a task is to show before its transaction commits: WORK, and the
// transaction.
type Preparation struct {
	PID            int32
	Since          time.Time // start of that backend
	Start, Stop    time.Time // zero: it has not stopped
	Xact           int64
	Exactly        bool // the effects of the run happen exactly once
	Output, Notice *string
	Claims         bool // its SQL has not begun, and will run in that transaction
}

// Prepared says what became of a preparation.
type Prepared int

// What becomes of a preparation. Nothing but Taken lets its transaction commit.
const (
	Untaken     Prepared = iota // the row is not ours any more, or nobody leads
	Taken                       // the row says so, and that is committed
	OwnLock                     // the run itself holds the lock that keeps the row, or the table
	OthersLock                  // somebody else has held it for too long
	Unprepared                  // the table refuses it: see the failure
	Unreachable                 // the leader's connection was lost: it may have been taken
)

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

// note keeps an outcome until the next post. By now the effects of the task are visible to others.
// A heavy outcome is told at once.
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

// deliver tells the leader of an outcome, and gives the slot of its task back. A heavy outcome
// keeps the slot until it is written, so that there are never more heavy outcomes than slots. A
// lost session keeps the slot until its backend is gone: the leader gives it back. In a drain the
// session of a marked task stays until the end is written: otherwise the next leader would take the
// task for cut off.
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

// untouched is for how long at most a session is silent while its task's end is to be written:
// after 10 s another leader would end it.
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
