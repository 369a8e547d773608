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

// drain ends all work: nothing starts any more, and after the grace period tasks are cancelled.
type drain struct {
	*shared
	stop      <-chan struct{} // closed when the drain should begin
	since     time.Time       // when the drain began; zero: it has not
	cancelled bool            // the grace period is over
}

// on tells whether the drain has begun.
func (d *drain) on() bool { return !d.since.IsZero() }

// wanted returns the channel that starts the drain, or nil once the drain has begun.
func (d *drain) wanted() <-chan struct{} {
	if d.on() {
		return nil
	}
	return d.stop
}

// begin begins the drain.
func (d *drain) begin() {
	d.since = time.Now()
	d.ends.Drain()
	d.marks.Drain()
	d.runs.Lanes.Slots.Close()
	d.dropWaiting()
	d.underWay(d.log.Info().Str("grace", human.Duration(d.live.Load().Grace)), "waits_for").Msg("draining")
	for _, t := range d.tasks {
		t.Withdraw()
	}
}

// look begins the drain if it is wanted, and cancels tasks when the grace period is over.
func (d *drain) look() {
	select {
	case <-d.wanted():
		d.begin()
	default:
	}
	if d.next() > 0 {
		return
	}
	d.cancelled = true
	if d.tasks.AnyUnended() {
		d.underWay(d.log.Warn().Str("grace", human.Duration(d.live.Load().Grace)), "cancels").Msg("grace is over; cancelling tasks")
	}
	for _, t := range d.tasks {
		t.Cancel(exec.Drained)
	}
}

// next is the time until tasks are cancelled.
func (d *drain) next() time.Duration {
	if !d.on() || d.cancelled {
		return hold.Never
	}
	return d.live.Load().Grace - time.Since(d.since)
}

// namedMost is the number of tasks that one log line names.
const namedMost = 20

// underWay adds the tasks that have not ended to a log line.
func (d *drain) underWay(line *zerolog.Event, key string) *zerolog.Event {
	ids := d.tasks.IDs()
	return line.Int("tasks", len(ids)).Ints64(key, ids[:min(len(ids), namedMost)])
}

// opens calls open, which may wait for a server or a pooler. When a drain is wanted, its context
// ends: after the grace period, or at once if there is no session and nothing of ours runs.
func (d *drain) opens(ctx context.Context, open func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var patience time.Duration
	if d.control.Opened() || d.busy() {
		patience = d.live.Load().Grace
	}
	d.crew.Go(func() {
		select {
		case <-d.stop:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(patience):
			cancel()
		case <-ctx.Done():
		}
	})
	return open(ctx)
}

// undrained is the error of a drain that took too long.
type undrained struct{ tasks int }

func (u *undrained) Error() string {
	return fmt.Sprintf("%d tasks did not end in time; the next leader treats them as interrupted", u.tasks)
}

// drained tells whether the drain is over; the error says why it failed. A drain that takes too
// long leaves locked rows as they are: the next controller finds them.
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

// handOverPatience is how long a drain keeps the lead to write the ends of locked rows.
const handOverPatience = time.Second

// handOver gives up the lead as soon as all running tasks are marked. The next leader starts the
// waiting tasks and leaves the marked ones alone: we still write their ends.
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
	l.stopLedger(false) // the next leader ends the ledger's connection
	if err := l.wake.WakeUp(ctx); err != nil {
		return err
	}
	if err := l.leads.Release(ctx); err != nil {
		return err
	}
	l.log.Info().Int("tasks", len(l.tasks)).Msg("gave the lead away; waiting for the tasks that run")
	return nil
}
