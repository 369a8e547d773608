package work

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/human"
	"pgtaskd/work/control"
	"pgtaskd/work/inflight"
	"pgtaskd/work/target"
)

// drain is the end of all work: nothing starts any more, what runs has a grace, and then is
// cancelled.
type drain struct {
	log   *target.Log
	live  *atomic.Pointer[target.Live]
	tasks inflight.Tasks
	close func() // lets nothing more start, and forgets what waits

	since     time.Time // zero: there is none
	cancelled bool      // its grace is over
}

// on tells whether it has begun.
func (d *drain) on() bool { return !d.since.IsZero() }

// step begins it, and in time enforces it.
func (d *drain) step() {
	grace := d.live.Load().Grace
	if !d.on() {
		d.since = time.Now()
		d.close()
		d.underWay(d.log.Info().Str("grace", human.Duration(grace)), "waits_for").Msg("draining")
		for _, t := range d.tasks {
			t.Withdraw()
		}
	}
	if !d.cancelled && time.Since(d.since) >= grace {
		d.cancelled = true
		if d.tasks.AnyUnended() {
			d.underWay(d.log.Warn().Str("grace", human.Duration(grace)), "cancels").Msg("grace is over; cancelling tasks")
		}
		for _, t := range d.tasks {
			t.Cancel(exec.Drained)
		}
	}
}

// over tells whether it has come to its end, or takes too long: rows that somebody has locked are left
// as they are then, and the next controller finds them.
func (d *drain) over() (over bool, err error) {
	switch {
	case !d.on():
		return false, nil
	case len(d.tasks) == 0:
		d.log.Info().Msg("drained")
		return true, nil
	case time.Since(d.since) > d.live.Load().Grace+exec.Obey:
		return true, &undrained{len(d.tasks)}
	}
	return false, nil
}

// next is when its grace is over.
func (d *drain) next() time.Duration {
	if !d.on() || d.cancelled {
		return never
	}
	return d.live.Load().Grace - time.Since(d.since)
}

// rests is a duty that rests once it has begun.
func (d *drain) rests(of duty) duty {
	return duty{
		next: func() time.Duration {
			if d.on() {
				return never
			}
			return of.next()
		},
		do: func(ctx context.Context) error {
			if d.on() {
				return nil
			}
			return of.do(ctx)
		},
	}
}

// namedMost is how many tasks a line of the log names.
const namedMost = 20

// underWay adds the tasks that have not ended to a line of the log.
func (d *drain) underWay(line *zerolog.Event, key string) *zerolog.Event {
	ids := d.tasks.IDs()
	return line.Int("tasks", len(ids)).Ints64(key, ids[:min(len(ids), namedMost)])
}

// undrained is the error of a drain that took too long.
type undrained struct{ tasks int }

func (u *undrained) Error() string {
	return fmt.Sprintf("%d tasks did not end in time; the next leader treats them as interrupted", u.tasks)
}

// drained tells whether a drain has come to its end, and why not as it should.
func (l *loop) drained() (done bool, err error) {
	if done, err = l.drain.over(); done && err == nil {
		err = l.table.Refused
	}
	return done, err
}

// handOverPatience is how long the lead waits in a drain for ends that wait for somebody else.
const handOverPatience = time.Second

// handOver gives the lead away as soon as all that runs is marked: another controller starts what
// waits, and leaves alone what is marked. We write the ends of that all the same.
func (l *loop) handOver(ctx context.Context) error {
	if !l.drain.on() || l.leads.Handed || !l.busy() {
		return nil
	}
	l.ends.DropLate(handOverPatience)
	for _, t := range l.tasks {
		if !t.Marked && !t.Claimed() {
			return nil
		}
	}
	l.leader.judge.Orphans.Release()
	l.closeLater(l.runs.Pool.Stale(0))
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	l.stopLedger(false) // the next leader ends its connection
	if err := l.wake.WakeUp(ctx); err != nil {
		return err
	}
	if err := l.leads.Release(ctx); err != nil {
		return err
	}
	l.log.Info().Int("tasks", len(l.tasks)).Msg("gave the lead away; waiting for the tasks that run")
	return nil
}
