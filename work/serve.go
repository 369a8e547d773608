package work

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/routine"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/install"
	"pgtaskd/work/judge"
	"pgtaskd/work/place"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
)

// Serve leads the target, or stands by while another controller does. It logs each obstacle once,
// and tries again until it succeeds. When stop is closed, it drains and returns nil, or the reason
// why the drain failed. When ctx ends, it returns ctx's error at once. All goroutines that it
// started have ended when it returns.
func Serve(ctx context.Context, stop <-chan struct{}, t target.Target, log zerolog.Logger) error {
	return newService(t, log).serve(ctx, stop)
}

// service is the state that outlasts the loops of a target.
type service struct {
	target  target.Target
	trouble *trouble
	panics  *judge.Panics
	places  place.Memory
	begins  func(*loop) // for tests: called with each loop; may be nil
}

func newService(t target.Target, log zerolog.Logger) *service {
	t.Stats, t.Changes = cmp.Or(t.Stats, target.NewStats()), cmp.Or(t.Changes, target.NewChanges())
	return &service{target: t, trouble: &trouble{log: target.NewLog(log, t.TaskLog), stats: t.Stats, worked: time.Now()}, panics: &judge.Panics{}}
}

func (s *service) serve(ctx context.Context, stop <-chan struct{}) error {
	defer s.trouble.stats.Moves(hold.Never)
	for {
		err := s.once(ctx, stop)
		if ctx.Err() != nil || err == nil {
			return ctx.Err()
		}
		select {
		case <-stop:
			return undone(err)
		default:
		}
		select {
		case <-time.After(s.trouble.failed(err)):
		case <-s.target.Changes.Poked(): // a reload
		case <-stop:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// undone returns err if it means that a drain has left work undone. It returns nil if nothing of
// ours is under way any more, whatever kept us from serving the target.
func undone(err error) error {
	if errors.As(err, new(*undrained)) || errors.As(err, new(*routine.Panic)) {
		return err
	}
	return nil
}

// once serves the target until a failure that leaves nothing of ours under way. A panic in any
// goroutine of the loop counts as a failure, so a bug met by one target leaves the others alone.
func (s *service) once(ctx context.Context, stop <-chan struct{}) error {
	l := newLoop(ctx, s)
	l.drain.stop = stop
	if s.begins != nil {
		s.begins(l)
	}
	l.stats.Serves(l.load)
	err := l.crew.Call(func() error { return l.serve() })
	l.stats.Serves(nil)
	l.stats.Stands(target.Standing{})
	l.runs.Lanes.Slots.Close()
	l.crew.End()
	l.crew.Wait()
	_ = l.crew.Call(func() error {
		pool.Close(l.runs.Pool.Stale(0))
		return nil
	})
	if p := l.crew.Panicked(); p != nil {
		return p
	}
	return err
}

// serve leads. After a failure it tries again as long as tasks of ours run or their ends are not
// yet written. It keeps the connection, and with it the lead, as another controller knows less
// about the running tasks. It gives both up only if another controller may do better.
func (l *loop) serve() error {
	ctx := l.crew.Context()
	defer l.leave()
	for {
		err := l.lead(ctx)
		if err == nil || ctx.Err() != nil || !l.busy() || undone(err) != nil {
			return err
		}
		if !l.control.Opened() || errors.Is(err, control.ErrReadOnly) || errors.As(err, new(*schema.OfInserters)) || install.IsRefused(err) {
			l.leave()
		}
		l.pause(ctx, l.trouble.failed(err))
		if done, late := l.drained(); done {
			return errors.Join(late, err)
		}
	}
}

// lead leads until a drain, ctx or an error ends it. If it is not connected yet, it first connects
// and waits for the lead.
func (l *loop) lead(ctx context.Context) error {
	l.stats.Moves(0)
	if l.control.Opened() {
		if err := l.control.Forget(ctx); err != nil {
			return err
		}
		return l.reign(ctx)
	}
	l.leave()
	if err := l.drain.opens(ctx, l.table.Connect); err != nil {
		return err
	}
	l.leads.Begin()
	l.stats.Connected()
	l.trouble.reached = true
	leader, err := l.stand(ctx)
	if !leader {
		l.leave()
		return err
	}
	return l.reign(ctx)
}

// leave closes the connection, or records that it is lost.
func (l *loop) leave() {
	l.stopLedger(false)
	l.control.Close()
}

// pause waits until the next try to lead. Meanwhile it answers runs that wait for the ledger: one
// of them may have locked the table.
func (l *loop) pause(ctx context.Context, most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end); {
		rest := time.Until(end)
		if l.control.Opened() {
			_ = l.ledger.Step(ctx, l.control.Conn()) // entries that it could not write come again
			rest = min(rest, max(l.ledger.Next(), time.Millisecond))
		}
		select {
		case <-ctx.Done():
			return
		case <-l.drain.wanted():
			l.drain.look()
			return
		case <-l.inbox.Poked():
		case <-time.After(rest):
		}
	}
	l.drain.look() // the grace period may be over
}

// reign looks at the table, then leads until a drain, ctx or an error ends it.
func (l *loop) reign(ctx context.Context) (err error) {
	defer func() {
		if err != nil && ctx.Err() == nil {
			err = l.diagnose(ctx, err)
		}
	}()
	if err := l.drain.opens(ctx, l.leader.shape.install); err != nil {
		return err
	}
	defer func() { l.endTerm(ctx, err) }()
	f := l.control.Facts()
	l.runs.Superuser.Store(f.Superuser)
	l.leader.planner.Begin()
	if err := l.ledger.Begin(ctx, l.control); err != nil {
		return err
	}
	defer l.wake.Stop()
	l.wake.Start()
	l.trouble.served = true
	l.stats.Stands(target.Standing{Leads: true})
	defer l.stats.Stands(target.Standing{})
	l.leads.Leads(true)
	defer l.leads.Leads(false)
	l.trouble.become(func() { l.trouble.news().Int32("session_pid", f.PID).Str("wake", string(l.wake.Way())).Msg("leading") })
	if err := l.leader.begin(ctx); err != nil {
		return err
	}
	for {
		if err := l.round(ctx); err != nil {
			return err
		}
		if done, err := l.drained(); done {
			_ = l.leads.Show(ctx, false)
			return err
		}
		l.trouble.look()
		if err := l.sleep(ctx); err != nil {
			return err
		}
	}
}

// standby is about how often a follower looks whether it can lead.
const standby = 500 * time.Millisecond

// stand waits until we are the leader. It returns false if a drain ends first.
func (l *loop) stand(ctx context.Context) (leader bool, err error) {
	for {
		l.stats.Moves(0)
		if done, err := l.drained(); done {
			return false, err
		}
		if leader, err := l.leads.Elect(ctx); err != nil || leader {
			return leader, err
		}
		if l.drain.on() && !l.tasks.AnyRuns() { // the leader finds out how our tasks have ended
			return false, nil
		}
		if err := l.follow(ctx); err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-l.drain.wanted():
			if !l.busy() {
				return false, nil
			}
		// At random: two followers that block each other do not meet again.
		case <-time.After(standby/2 + rand.N(standby) + l.leads.Handicap()):
		}
		l.drain.look() // running tasks still have their grace period
	}
}

// follow does the work of a follower between two tries to lead.
func (l *loop) follow(ctx context.Context) (err error) {
	rival := l.leads.Rival
	if rival != nil && !l.trouble.served {
		if l.trouble.served, err = l.table.Exists(ctx); err != nil {
			return err
		}
	}
	if err := l.leads.StandBy(ctx); err != nil {
		return err
	}
	l.decline()
	l.leader.judge.Panics.Clear()      // the leader judges the tasks that panics have cut off
	l.closeLater(l.runs.Pool.Stale(0)) // sessions whose tasks have ended since we led
	if rival != nil {
		l.stats.Stands(target.Standing{StandsBy: true})
		if l.trouble.began.IsZero() { // say it once
			l.trouble.become(func() { l.leads.Tell(rival) })
		}
	}
	l.trouble.look()
	return nil
}

// Target is a task table, with everything that is needed to serve it.
type Target = target.Target

// Version is the program's version, as the table of controllers shows it. It is set before any
// target is served.
var Version = "devel"

// Check finds out whether Serve could serve the target, and what it would create, and changes
// nothing.
func Check(ctx context.Context, t Target) install.Report {
	k := new(Checks).Checker()
	defer k.Close()
	return k.Check(ctx, t)
}

// Checks checks many targets. It looks at each remote once.
type Checks struct{ remotes pool.Promises }

// Checker checks some of the targets. Any goroutine may call it.
func (c *Checks) Checker() *install.Checker {
	return &install.Checker{Try: install.Tries{Role: pool.Try, Remote: c.remotes.Obstacle}}
}

// Role returns the role that serves the target: as which its login acts.
func Role(ctx context.Context, t Target) (string, error) { return control.Role(ctx, t.Connect) }
