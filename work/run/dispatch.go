package run

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/exec/bound"
	"pgtaskd/exec/fault"
	"pgtaskd/exec/text"
	"pgtaskd/remote"
	"pgtaskd/routine"
	"pgtaskd/work/lane"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Config is what runners work with. The leader owns and shares it.
type Config struct {
	Target *target.Target
	Live   *atomic.Pointer[target.Live] // settings that may change while tasks run
	Leader Leader
	Group  *routine.Group // all goroutines of the target
	Lanes  *lane.Lanes[*Task]
	Pool   *pool.Pool
	Clock  *Clock
	Log    zerolog.Logger
	Blame  func(id int64) // records a task at which a runner has panicked
}

// Dispatcher starts runners, which share it. Only the leader's goroutine calls Dispatch; any
// goroutine may call the other methods.
type Dispatcher struct {
	Config
	Profiles  Profiles
	pipelines sync.Map  // of the runners at work
	searched  time.Time // when Dispatch last looked at all lanes

	// The leader sets these.
	Superuser atomic.Bool // the target's role is a superuser
	Foreign   atomic.Bool // there are foreign servers: writes through them have no transaction id here
}

// New returns a Dispatcher that has started no runner.
func New(c Config) *Dispatcher {
	return &Dispatcher{Config: c, Profiles: Profiles{all: map[like]*profile{}}}
}

// Dispatch looks at all lanes every searchTick, and starts no further search after searchMost.
const (
	searchTick = 100 * time.Millisecond
	searchMost = 10 * time.Millisecond
)

// Dispatch starts a runner for each task that may start, as far as there are sessions. Usually it
// tries only the lanes that come first. Their tasks may wait for a session, so from time to time it
// looks at all lanes.
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

// Behind counts the tasks that servers have after the current ones, in all pipelines.
func (d *Dispatcher) Behind() (n int) {
	for p := range d.pipelines.Range {
		n += p.(*pipeline).count()
	}
	return n
}

// CallBack gives pipelined tasks back to the lanes if they cannot begin any more, because the task
// before them takes long.
func (d *Dispatcher) CallBack() {
	for p := range d.pipelines.Range {
		for _, t := range p.(*pipeline).back(true) {
			d.Leader.Outcome(Outcome{Task: t, Kind: Released})
		}
	}
}

// servable tells whether a session is free for the task, or one may be opened.
func (d *Dispatcher) servable(t *Task) bool {
	return t.need().Place() != "" || !d.Pool.Short() || d.Pool.Fits(t.need()) || d.Pool.Admit()
}

// Fits tells whether a session that suits the task is free.
func (d *Dispatcher) Fits(t *Task) bool { return d.Pool.Fits(t.need()) }

// take takes a session for the task from the pool, or opens one; nil: o is the task's outcome.
func (d *Dispatcher) take(ctx context.Context, t *Task) (session *pool.Session, o Outcome) {
	o = Outcome{Task: t, Kind: Released}
	if session = d.Pool.Take(ctx, t.need(), d.Live.Load().Run); session == nil {
		session = d.open(ctx, t, &o)
	}
	if session != nil {
		if d.Lanes.Opened(t) {
			return session, o
		}
		d.spare(session) // the task has tried its remote, but run is full: it waits like others
	}
	o.Stop = d.Clock.Now()
	return nil, o
}

// open opens a session for the task; nil: o says what follows. If the task is cancelled meanwhile,
// also by a drain, it has not begun.
func (d *Dispatcher) open(ctx context.Context, t *Task, o *Outcome) *pool.Session {
	opening, giveUp := context.WithCancel(ctx)
	defer giveUp()
	if t.opens(giveUp) {
		giveUp()
	}
	if d.Lanes.Slots.IsClosed() { // a drain that begins later withdraws the task itself
		t.Withdraw()
	}
	began := time.Now()
	session, err := d.Pool.Open(opening, t.need(), d.Live.Load().Run)
	if !t.opens(nil) {
		if err != nil {
			d.unopened(ctx, o, began, err)
		}
		return session
	}
	if err == nil {
		d.spare(session)
	}
	if t.cancelled() == exec.Stopped {
		o.Kind = Stopped
	}
	return nil
}

// spare gives back a new session that its task does not use. It may be one too many.
func (d *Dispatcher) spare(session *pool.Session) {
	if d.Pool.Count() <= d.Live.Load().Run {
		d.Pool.Put(session)
		return
	}
	session.Close()
	d.Pool.Gone(session)
}

// unopened decides what follows from the error of a session that could not be opened.
func (d *Dispatcher) unopened(ctx context.Context, o *Outcome, began time.Time, err error) {
	t := o.Task
	o.Fault, o.Delay = d.unreachable(ctx, t, began, err), d.Pool.Delay(t.need())
	if t.need().Place() != "" {
		o.Closed = err
	}
	switch {
	case pool.Final(err):
		o.Kind = Finished
	case t.need().Place() == t.Row.Remote && !errors.As(err, new(*pgconn.PgError)): // no server has answered
		now := d.Clock.Now()
		for _, other := range d.Lanes.Shut(t, now.Add(o.Delay)) {
			d.Leader.Outcome(Outcome{Task: other, Kind: Released, Stop: now, Fault: o.Fault, Delay: o.Delay})
		}
	}
}

// unreachableAfter is how long after the first try a role without superuser rights learns, at the
// earliest, that no server has answered. Otherwise the time would tell whether this machine itself
// has refused the connection, as that takes no time.
const unreachableAfter = time.Second

// readLog is the hint when only the administrator may know more.
const readLog = "The log of pgtaskd says why."

// loginHints says, by SQLSTATE, how to let a role log in.
var loginHints = map[string]string{
	"28000": "pg_hba.conf must let the role in from where pgtaskd runs, and ALTER ROLE ... LOGIN.",
	"28P01": "Its password_file or password_command in the configuration, or the password file of libpq, must have its password.",
	"42501": "GRANT CONNECT ON DATABASE ... TO the role.",
	"53300": "Raise max_connections, or the CONNECTION LIMIT of the role or the database.",
}

// unreachable returns the failure that a task's row shows if its session could not be opened. All
// roles see the answer of a server. Only superusers see errors of our own machine: a remote can
// name any path and port of it.
func (d *Dispatcher) unreachable(ctx context.Context, t *Task, began time.Time, err error) *text.Failure {
	d.Log.Debug().Err(err).Int64("id", t.Row.ID).Bool("remote", t.Row.Remote != "").Msg("cannot open a session")
	var refused *remote.Refused
	var answer *pgconn.PgError
	var panicked *routine.Panic
	var costly *bound.Costly
	role := t.Row.Session.Role
	superuser := role.Superuser || role.Name == "" && d.Superuser.Load()
	switch {
	case errors.As(err, &panicked): // the row shows nothing of our internals
		fault.Advised(d.Log.Error(), err).Int64("id", t.Row.ID).Msg("internal error while opening a session for a task")
		return text.NewFailure("the task could not be run", "XX000", "DETAIL",
			"pgtaskd met an internal error; its log has the details.")
	case role.Name != "" && t.Row.Remote == "" && errors.As(err, &answer):
		return text.NewFailure("pgtaskd cannot log in as role "+strconv.Quote(role.Name), answer.Code, "DETAIL",
			answer.Message, "HINT", loginHints[answer.Code])
	case errors.As(err, &costly): // it tells only what servers have asked for
		return text.NewFailure("could not establish connection", "08001", "DETAIL", costly.Error())
	case errors.As(err, &refused):
		detail, hint := refused.Detail, refused.Hint
		if superuser {
			detail = cmp.Or(detail, refused.Private)
		} else if refused.Private != "" {
			hint = cmp.Or(hint, readLog)
		}
		return text.NewFailure(refused.Message, refused.SQLState, "DETAIL", detail, "HINT", hint)
	case errors.As(err, &answer):
		return text.NewFailure("could not establish connection", answer.Code, "DETAIL", answer.Message, "HINT", answer.Hint)
	case superuser || remote.Unsuited(err):
		return text.NewFailure("could not establish connection", "08001", "DETAIL", remote.Innermost(err))
	}
	if t.Row.Remote != "" {
		select {
		case <-time.After(time.Until(began.Add(unreachableAfter))):
		case <-ctx.Done():
		}
	}
	return text.NewFailure("could not establish connection", "08001", "HINT", readLog)
}

// Clock is the server's clock as well as we know it, and never fast. The server's time decides
// about tasks; our own only measures how long to sleep. Any goroutine may use it.
type Clock struct {
	ahead atomic.Int64 // nanoseconds
	read  bool         // Set was called; owned by its goroutine
}

// Now returns the server's time.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Until returns how long it takes until the server's clock shows t.
func (c *Clock) Until(t time.Time) time.Duration { return t.Sub(c.Now()) }

// Set takes a reading of the server's clock, which was taken between asked and answered by our
// clock. It shows how far the server's clock is ahead at least (if the answer took no time) and at
// most. The current estimate stays as long as it can be true. One goroutine calls Set.
func (c *Clock) Set(server, asked, answered time.Time) {
	least, most := int64(server.Sub(answered)), int64(server.Sub(asked))
	for ahead := c.ahead.Load(); (!c.read || ahead < least || ahead > most) && !c.ahead.CompareAndSwap(ahead, least); ahead = c.ahead.Load() {
	}
	c.read = true
}

// heard takes a time that the server's clock has reached: from then on Now is not earlier.
// Otherwise a task could seem to begin (by our estimate) before the previous task of the lane has
// ended (by the server's clock).
func (c *Clock) heard(server time.Time) {
	for ahead, least := c.ahead.Load(), int64(time.Until(server)); ahead < least && !c.ahead.CompareAndSwap(ahead, least); ahead = c.ahead.Load() {
	}
}
