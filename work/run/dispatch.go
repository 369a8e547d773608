package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec/text"
	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config is what runners work with. It belongs to the leader, who shares it.
type Config struct {
	Target *target.Target
	Live   *atomic.Pointer[target.Live] // its settings, which may change while tasks run
	Leader Leader
	Group  *routine.Group // all goroutines of the target
	Lanes  *lane.Lanes[*Task]
	Pool   *pool.Pool
	Clock  *Clock
	Log    zerolog.Logger
	Blame  func(id int64) // takes note of a task at which a runner has panicked
}

// Dispatcher starts runners, and is what they share. Any goroutine may use it, but Dispatch is the
// leader's.
type Dispatcher struct {
	Config
	Profiles  Profiles
	pipelines sync.Map  // those of the runners that are at work
	searched  time.Time // when Dispatch looked at all lanes

	// The leader sets them.
	Superuser atomic.Bool // the target's role is one
	Foreign   atomic.Bool // there are foreign servers: what writes through them has no transaction id here
}

// New returns one that has started nothing.
func New(c Config) *Dispatcher {
	return &Dispatcher{Config: c, Profiles: Profiles{all: map[like]*profile{}}}
}

// All lanes are looked at so often, for so long at most, or as long as one search takes.
const (
	searchTick = 100 * time.Millisecond
	searchMost = 10 * time.Millisecond
)

// Dispatch starts a runner for each task that may start, as far as there are sessions. Where the
// tasks that come first wait for a session, others do not wait for them: from time to time it looks
// at all lanes.
func (d *Dispatcher) Dispatch() {
	fits := func(t *Task) bool { return !d.Profiles.crowded(t) && d.servable(t) }
	for t := d.Lanes.Tryout(fits); t != nil; t = d.Lanes.Tryout(fits) {
		d.launch(t)
	}
	for t := d.Lanes.Start(false, fits); t != nil; t = d.Lanes.Start(false, fits) {
		d.launch(t)
	}
	if time.Since(d.searched) < searchTick {
		return
	}
	d.searched = time.Now()
	for t := d.Lanes.Start(true, fits); t != nil; t = d.Lanes.Start(true, fits) {
		d.launch(t)
		if time.Since(d.searched) >= searchMost {
			return
		}
	}
}

// launch starts a runner for the task.
func (d *Dispatcher) launch(t *Task) {
	d.Profiles.joins(t)
	d.Group.Go(func() {
		r := newRunner(d)
		d.pipelines.Store(&r.pipeline, nil)
		defer d.pipelines.Delete(&r.pipeline)
		r.serve(d.Group.Context(), t)
	})
}

// Behind is how many tasks are with the server after others.
func (d *Dispatcher) Behind() (n int) {
	for p := range d.pipelines.Range {
		n += p.(*pipeline).count()
	}
	return n
}

// CallBack gives back to the lanes what will not begin any more because what is before it lasts.
func (d *Dispatcher) CallBack() {
	for p := range d.pipelines.Range {
		for _, t := range p.(*pipeline).back(true) {
			d.Leader.Outcome(Outcome{Task: t, Kind: Released})
		}
	}
}

// prepare has the row show the transaction in which the run's effects are. The failure tells why
// the table refuses it.
func (d *Dispatcher) prepare(t *Task, p Preparation) (Prepared, *text.Failure) {
	t.xact.Store(p.Xact)
	answer, refused := d.Leader.Prepare(d.Group.Context(), t, p)
	if answer != Taken && answer != Unreachable {
		t.xact.Store(0)
	}
	return answer, refused
}

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

// Clock is the server's, as well as we know it, and never fast: what decides about tasks is the
// server's time, ours only measures how long to sleep. Any goroutine may use it.
type Clock struct {
	ahead atomic.Int64 // nanoseconds
	read  bool         // of the goroutine that calls set
}

// Now is the server's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Until is how long it takes until the server's clock shows t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Set takes a reading of the server's clock that was asked for between two moments of ours. It
// tells how far the server's is ahead at least (if the answer took no time) and at most; the best
// reading so far stays, as long as it can be true.
func (c *Clock) Set(server, asked, answered time.Time) {
	least, most := int64(server.Sub(answered)), int64(server.Sub(asked))
	for ahead := c.ahead.Load(); (!c.read || ahead < least || ahead > most) && !c.ahead.CompareAndSwap(ahead, least); ahead = c.ahead.Load() {
	}
	c.read = true
}

// heard takes in a moment that the server's clock has shown by now: what we say later is not before
// it. Otherwise a task of a lane would seem to have begun, by our reading, before the end of the
// one before it, by the server's.
func (c *Clock) heard(server time.Time) {
	for ahead, least := c.ahead.Load(), int64(time.Until(server)); ahead < least && !c.ahead.CompareAndSwap(ahead, least); ahead = c.ahead.Load() {
	}
}
