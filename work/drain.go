package work

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/human"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
)

// drain is the end of all work: nothing starts any more, what runs has a grace, and then is
// cancelled.
type drain struct {
	*shared
	stop      <-chan struct{} // closed when it is to begin
	since     time.Time       // zero: there is none
	cancelled bool            // its grace is over
}

// on tells whether it has begun.
func (d *drain) on() bool { return !d.since.IsZero() }

// wanted tells when it is to begin; never once it has.
func (d *drain) wanted() <-chan struct{} {
	if d.on() {
		return nil
	}
	return d.stop
}

// look begins it if it is wanted, and in time enforces it.
func (d *drain) look() {
	select {
	case <-d.wanted():
		d.step()
	default:
		if d.on() {
			d.step()
		}
	}
}

// step begins it, and in time enforces it.
func (d *drain) step() {
	grace := d.live.Load().Grace
	if !d.on() {
		d.since = time.Now()
		d.runs.Lanes.Slots.Close()
		d.dropWaiting()
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

// next is when its grace is over.
func (d *drain) next() time.Duration {
	if !d.on() || d.cancelled {
		return hold.Never
	}
	return d.live.Load().Grace - time.Since(d.since)
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

// drained tells whether the drain is over; the error says why it did not end as it should. A drain
// that takes too long leaves locked rows as they are: the next controller finds them.
func (l *loop) drained() (done bool, err error) {
	switch {
	case !l.drain.on():
		return false, nil
	case len(l.tasks) == 0:
		l.log.Info().Msg("drained")
		return true, l.table.Refused
	case time.Since(l.drain.since) > l.live.Load().Grace+exec.Obey:
		return true, &undrained{len(l.tasks)}
	}
	return false, nil
}

// handOverPatience is how long a drain keeps the lead for ends whose rows somebody has locked.
const handOverPatience = time.Second

// handOver gives the lead away as soon as all tasks that run are marked. The next leader starts the
// tasks that wait, and leaves the marked ones alone: we still write their ends.
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
