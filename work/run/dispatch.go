package run

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/routine"
	"pgtaskd/sql"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
)

// Config is what a dispatcher works with. It belongs to the leader, who shares it.
type Config struct {
	Schema, Table string
	LongestText   int64 // bytes of an input or of data that is run
	Leader        Leader
	Group         *routine.Group // all goroutines of the target
	Lanes         *lane.Lanes[*Task]
	Pool          *pool.Pool
	Clock         *Clock
	Log           zerolog.Logger
	Failed        func(error) *zerolog.Event     // begins a line of the log about an error
	Shows         func(group string) [][2]string // settings of sessions that run tasks of a group
	Blame         func(id int64)                 // takes note of a task at which a runner has panicked
	Freed         func()                         // wakes the leader: a session is free
	Ran           func(*Task)                    // for tests: called after the SQL of each task; may be nil
}

// Limits are settings that may change while tasks run.
type Limits struct {
	Run         int
	OutputLimit int64
	OutputFail  bool
}

// Server is what runners have to know of the target's server.
type Server struct {
	Superuser bool   // the role is one
	Encoding  string // of the database
	Path      string // the role's search_path, where tasks run under other roles
	Ends      string // the call that writes the end of such a task
}

// Dispatcher starts runners, and holds what they share: it is all that they see of the leader. Any
// goroutine may use it, but Dispatch is the leader's.
type Dispatcher struct {
	Config
	pipelines pipelines
	profiles  profiles
	others    others
	instants  instants
	unwritten atomic.Int64 // bytes of the outcomes that the leader has not written yet
	bare      [][2]string  // the parameters of a task that has none of its own
	searched  time.Time    // when Dispatch looked at all lanes

	// The leader sets them.
	Limits  atomic.Pointer[Limits]
	Server  atomic.Pointer[Server]
	Queries atomic.Pointer[sql.Queries]
	Zone    atomic.Pointer[string] // in which repetitions are counted
	Foreign atomic.Bool            // there are foreign servers: what writes through them has no transaction id here
	Defers  atomic.Bool            // the table has constraints or triggers that may wait for COMMIT
}

// New returns one that has started nothing.
func New(c Config, limits Limits) *Dispatcher {
	d := &Dispatcher{
		Config:    c,
		pipelines: pipelines{all: map[*runner]*pipeline{}},
		profiles:  profiles{of: map[like]*profile{}},
		bare:      Parameters(c.Schema, c.Table, "", "", 1),
	}
	d.Limits.Store(&limits)
	d.Server.Store(&Server{Encoding: "UTF8"})
	return d
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
	fits := func(t *Task) bool { return !d.crowded(t) && d.servable(t) }
	for t := d.Lanes.Tryout(fits); t != nil; t = d.Lanes.Tryout(fits) {
		d.launch(t)
	}
	for t := d.Lanes.Start(fits); t != nil; t = d.Lanes.Start(fits) {
		d.launch(t)
	}
	if time.Since(d.searched) < searchTick {
		return
	}
	d.searched = time.Now()
	for t := d.Lanes.Search(fits); t != nil; t = d.Lanes.Search(fits) {
		d.launch(t)
		if time.Since(d.searched) >= searchMost {
			return
		}
	}
}

// launch starts a runner for the task.
func (d *Dispatcher) launch(t *Task) {
	d.joins(t)
	d.Group.Go(func() { (&runner{Dispatcher: d}).serve(d.Group.Context(), t) })
}

// servable tells whether there is a session for the task, or one may be opened.
func (d *Dispatcher) servable(t *Task) bool {
	return t.need().Place() != "" || !d.Pool.Short() || d.Pool.Fits(t.need()) || d.Pool.Admit()
}

// Fits tells whether a session lies ready that suits the task.
func (d *Dispatcher) Fits(t *Task) bool { return d.Pool.Fits(t.need()) }

// Warm opens a session for a task that will need one soon. Where that fails, the task itself will
// meet the same.
func (d *Dispatcher) Warm(t *Task) {
	if t.Row.Barred != nil || d.Fits(t) || !d.servable(t) {
		return
	}
	d.Group.Go(func() {
		r := &runner{Dispatcher: d, at: t}
		r.watched(func() {
			if s := r.sit(d.Group.Context(), t); s != nil {
				d.Pool.Put(s)
			}
		})
	})
}

// CallBack gives back to the lanes what is with the server behind tasks that last, and returns what
// those do not take.
func (d *Dispatcher) CallBack() []*Task { return d.pipelines.overdue(d.Clock.Now(), d.Lanes) }

// spec makes a task ready for its session; false when it may not start. What is not exactly once is
// marked first. In a session whose last task was marked it starts when we are known to lead since:
// a new leader spares the session of a marked task, and would take what follows there for it.
func (r *runner) spec(t *Task) (*exec.Task, bool) {
	if t.Row.Data == nil {
		r.flush() // nothing of ours stays open while we wait
		if r.session == nil {
			r.finish(Outcome{Task: t, Kind: Released})
			return nil, false
		}
		if !r.load(t) {
			return nil, false
		}
	}
	t.Examine()
	if t.Row.Remote != "" {
		t.query, t.watch = r.asQuery(t)
		t.Atomic = t.query || t.watch
	}
	if r.Lanes.IsClosed() {
		r.finish(Outcome{Task: t, Kind: Released})
		return nil, false
	}
	if t.needsMark() {
		r.flush()
		if r.session == nil {
			r.finish(Outcome{Task: t, Kind: Released})
			return nil, false
		}
		marked := r.mark(t)
		if marked.Refused != nil {
			r.finish(Outcome{Task: t, Kind: Finished, Stop: r.Clock.Now(), Fault: marked.Refused})
			return nil, false
		}
		if !marked.OK {
			r.finish(Outcome{Task: t, Kind: Refused, Stop: r.Clock.Now()})
			return nil, false
		}
		if t.Atomic && t.Row.Remote == "" && t.alters() {
			t.image = r.text(t, Image).Text
		}
	} else if r.session.Shielded && t.Row.Remote == "" {
		r.flush()
		if r.session == nil || !r.leads() {
			r.finish(Outcome{Task: t, Kind: Released})
			return nil, false
		}
	}
	r.session.Shielded = false
	return r.made(t, t.Row.Save && r.session.Keeps(t.Lane)), true
}

// made is the task as its session has to know it.
func (r *runner) made(t *Task, keep bool) *exec.Task {
	limits := r.Limits.Load()
	traits, own := *t.Traits, t.Row.Settings
	if len(own) > 0 { // any may be among them
		traits.Modes, traits.Limits = true, true
	}
	return &exec.Task{
		Sending: t.sending(),
		Input:   *t.Row.Input, Traits: traits, Atomic: t.Atomic, Save: t.Row.Save, Keep: keep,
		Wary:     t.wary || t.Again > 0 || len(own) > 0,
		Settings: settings(t), Own: own, Usual: r.usual(t), Timeout: t.Row.Timeout, Format: t.Row.Format,
		Limit: limits.OutputLimit, Strict: limits.OutputFail, Query: t.query, Watched: t.watch,
		Ours: t.Row.Remote == "" && !t.Row.Save && !t.Traits.Reads, Settled: r.settled(t), Guarded: t.Guarded(),
	}
}

// settled is a moment at which whatever the task is to find was there: when it was read, or when
// SQL other than its own has ended last, which may have been in its lane. One that must not be run
// again has none, since a plan that does not serve takes its run back.
func (r *runner) settled(t *Task) time.Time {
	if !t.Row.Rerun {
		return time.Time{}
	}
	return later(t.Read, r.others.than(*t.Row.Input))
}

// settings are what the session of a task shows and that of another does not.
func settings(t *Task) [][2]string {
	return [][2]string{
		{"pg_task.id", strconv.FormatInt(t.Row.ID, 10)},
		{"pg_task.plan", timestamp(t.Row.Plan)},
	}
}

// usual are the settings that a session may share with its tasks.
func (r *runner) usual(t *Task) exec.Usual {
	if t.Row.Parent == nil && *t.Row.Data == "" && t.Row.Attempt == 1 {
		return exec.Usual{t.Shows, r.bare}
	}
	parent := ""
	if t.Row.Parent != nil {
		parent = strconv.FormatInt(*t.Row.Parent, 10)
	}
	return exec.Usual{t.Shows, Parameters(r.Schema, r.Table, *t.Row.Data, parent, int(t.Row.Attempt))}
}

// Parameters are the settings that a session shows of a task.
func Parameters(schema, table, data, parent string, attempt int) [][2]string {
	return [][2]string{
		{"pg_task.schema", schema},
		{"pg_task.table", table},
		{"pg_task.data", data},
		{"pg_task.parent", parent},
		{"pg_task.attempt", strconv.Itoa(attempt)},
	}
}

// timestamp writes a moment so that every DateStyle and TimeZone reads it the same.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000+00") }
