package work

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"pgtaskd/exec"
	"pgtaskd/human"
	"pgtaskd/work/control"
)

// drained tells whether a drain has come to its end, or takes too long: rows that somebody has
// locked are left as they are then, and the next controller finds them.
func (l *loop) drained() (done bool, err error) {
	switch {
	case l.draining.IsZero():
		return false, nil
	case !l.busy():
		l.log.Info().Msg("drained")
		return true, l.table.Refused()
	case time.Since(l.draining) > l.live.Load().Grace+exec.Obey:
		return true, &undrained{len(l.tasks)}
	}
	return false, nil
}

// undrained is the error of a drain that took too long.
type undrained struct{ tasks int }

func (u *undrained) Error() string {
	return fmt.Sprintf("%d tasks did not end in time; the next leader treats them as interrupted", u.tasks)
}

// drain begins, and in time enforces, the end of all work.
func (l *loop) drain() {
	if l.draining.IsZero() {
		l.draining = time.Now()
		l.runs.Lanes.Slots.Close()
		l.dropWaiting()
		l.underWay(l.log.Info().Str("grace", human.Duration(l.live.Load().Grace)), "waits_for").Msg("draining")
		for _, t := range l.tasks {
			t.Withdraw()
		}
	}
	if !l.cancelled && time.Since(l.draining) >= l.live.Load().Grace {
		l.cancelled = true
		if l.tasks.AnyRuns() {
			l.underWay(l.log.Warn().Str("grace", human.Duration(l.live.Load().Grace)), "cancels").
				Msg("grace is over; cancelling tasks")
		}
		for _, t := range l.tasks {
			t.Cancel(exec.Drained)
		}
	}
}

// handOverPatience is how long the lead waits in a drain for ends that wait for somebody else.
const handOverPatience = time.Second

// handOver gives the lead away as soon as all that runs is marked: another controller starts what
// waits, and leaves alone what is marked. We write the ends of that all the same.
func (l *loop) handOver(ctx context.Context) error {
	if l.draining.IsZero() || l.handed || !l.busy() {
		return nil
	}
	l.ends.DropLate(handOverPatience)
	for _, t := range l.tasks {
		if !t.Marked && !t.Claimed() {
			return nil
		}
	}
	l.judge.Orphans.Release()
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
	l.handed = true
	l.log.Info().Int("tasks", len(l.tasks)).Msg("gave the lead away; waiting for the tasks that run")
	return nil
}

// namedMost is how many tasks a line of the log names.
const namedMost = 20

// underWay adds the tasks that have not ended to a line of the log.
func (l *loop) underWay(line *zerolog.Event, key string) *zerolog.Event {
	ids := l.tasks.IDs()
	return line.Int("tasks", len(ids)).Ints64(key, ids[:min(len(ids), namedMost)])
}
