package work

import (
	"context"
	"time"

	"pgtaskd/human"
	"pgtaskd/work/hold"
	"pgtaskd/work/keep"
)

// duty is something that the loop does in each round while it leads.
type duty struct {
	do    func(context.Context) error
	next  func() time.Duration // how long the duty can wait if nobody wakes the loop; nil: until somebody does
	timed bool                 // do it only when next is over
	rests bool                 // skip it in a drain
}

// timetable lists the duties in the order of a round. Rounds and sleep both use it.
func (l *loop) timetable() []duty {
	survey := &keep.Survey{Control: l.control, Stats: l.stats}
	return []duty{
		// First: the outcomes of runs.
		{do: l.hear},
		// Before anything can start.
		{do: l.leader.groups.Step, next: l.leader.groups.Next, timed: true},
		// Sessions wait for their preparations.
		{do: l.post, next: l.ledger.Next},
		// After post, which hands back the ends that the ledger passes over.
		{do: l.ends.Step, next: l.ends.Next},
		{do: l.leader.disk.Step, next: l.leader.disk.Next, timed: true},
		// After post, for the same reason.
		{do: l.answer, next: l.nextAnswer},
		{do: l.leader.judge.Step, next: l.leader.judge.Next, timed: true},
		{do: l.leader.rescan, next: l.leader.nextScan},
		{do: l.leader.expire.Step, next: l.leader.expire.Next, timed: true, rests: true},
		{do: l.leader.successors.Step, next: l.leader.successors.Next, rests: true},
		{do: l.leader.comesNext, next: l.leader.nextComesNext, timed: true},
		{do: l.leader.shape.beat, next: l.leader.shape.silence, timed: true},
		// After the scan: see Watch.rest.
		{do: l.leader.judge.Watch.Step, next: l.leader.judge.Watch.Next},
		// After all that finds tasks.
		{do: l.leader.fetch, next: l.leader.prefetch.Next},
		{do: l.ends.Deletes.Sweep, next: l.ends.Deletes.Next, timed: true},
		{do: l.leader.walk.Step, next: l.leader.walk.Next, timed: true, rests: true},
		{do: l.guard, rests: true},
		{do: l.leader.yield, next: func() time.Duration { return nextYield(l.leader, l.trouble.yielded) }, timed: true, rests: true},
		{do: l.handOver, next: l.drain.next},
		{do: l.show},
		{do: survey.Step, next: survey.Next, timed: true, rests: true},
		// Last: tasks that this round has read start at once.
		{do: l.start, next: l.leader.nextDispatch},
		{do: l.rest, next: l.nextRest, timed: true, rests: true},
	}
}

// round does everything that is to be done now.
func (l *loop) round(ctx context.Context) error {
	for _, d := range l.duties {
		if d.rests && l.drain.on() || d.timed && d.next() > 0 {
			continue
		}
		l.stats.Moves(0)
		if err := d.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// doze is how long the loop can sleep if nobody wakes it.
func (l *loop) doze() time.Duration {
	wait := hold.Never
	for _, d := range l.duties {
		if d.next != nil && !(d.rests && l.drain.on()) {
			wait = min(wait, d.next())
		}
	}
	return max(wait, 0)
}

// hear takes changed settings, and the outcomes and questions of runners.
func (l *loop) hear(ctx context.Context) error {
	if latest := l.target.Changes.Latest(); latest != nil && latest != l.live.Load() {
		l.runs.Lanes.Slots.Resize(latest.Run)
		l.live.Store(latest)
		l.leader.walk.Restart()
		l.log.Info().Int("run", latest.Run).Str("sleep", human.Duration(latest.Sleep)).
			Str("grace", human.Duration(latest.Grace)).Str("idle", human.Duration(latest.Idle)).Str("quiet", human.Duration(latest.Quiet)).
			Int64("output_limit", latest.OutputLimit).Msg("settings changed")
	}
	l.inbox.Take()
	return l.inbox.Enlist(ctx, l.leads.Register)
}

func (l *loop) show(ctx context.Context) error { return l.leads.Show(ctx, !l.leads.Handed) }

// guard looks at the door again each hour, and drains a target whose table is refused.
func (l *loop) guard(ctx context.Context) error {
	err := l.table.Guard(ctx)
	if l.table.Refused != nil {
		l.drain.begin()
		l.drain.look() // the grace period may be zero
	}
	return err
}

// start starts tasks, and closes sessions that have been idle for too long.
func (l *loop) start(context.Context) error {
	l.log.TellLeftOut()
	l.runs.Lanes.Pace()
	l.runs.CallBack() // tasks in a pipeline after one that takes long wait again
	l.runs.Dispatch()
	l.runs.Pool.Look()
	l.closeLater(l.runs.Pool.Stale(l.live.Load().Idle))
	return nil
}

// The ledger writes most changes of rows: marks that runners wait for, ends of tasks that succeeded
// and have no follow-up, and preparations, which the runners themselves ask for. Entries that it
// passes over come back, and later duties look at them more closely.

// post gives the ledger the entries that it can write. If the ledger has no connection of its own,
// post makes it write them now. Then post records the results.
func (l *loop) post(ctx context.Context) error {
	entries := append(l.marks.Lasting(), l.ends.Entries()...)
	if entries = append(entries, l.marks.Awaited()...); len(entries) > 0 {
		l.ledger.Put(entries...)
	}
	err := l.ledger.Step(ctx, l.control.Conn())
	if l.inbox.Do(); err != nil {
		return err
	}
	return l.ends.Deletes.Step(ctx)
}

// answer answers the questions of runners, and sets the marks that they wait for. After a handover
// it answers no; the ledger goes on for tasks that still run.
func (l *loop) answer(ctx context.Context) error {
	if l.leads.Handed {
		l.inbox.Decline()
		l.marks.Decline()
		return nil
	}
	if err := l.inbox.Answer(ctx); err != nil {
		return err
	}
	return l.marks.Step(ctx)
}

func (l *loop) nextAnswer() time.Duration {
	if l.asked() {
		return 0
	}
	return l.marks.Next()
}

// asked tells whether runners wait for the loop.
func (l *loop) asked() bool { return l.inbox.Waited() || l.marks.Asked() }

// decline answers no to all runners that wait: while another controller leads, we can do nothing
// for them, and their sessions would never become free.
func (l *loop) decline() {
	l.inbox.Take()
	l.stopLedger(true)
	l.inbox.Decline()
	l.marks.Decline()
}

// stopLedger takes back the entries that the ledger has not written, at the end of a term. The next
// term writes the entries that runners wait for. With decline, runners get the answer no instead:
// another controller leads.
func (l *loop) stopLedger(decline bool) {
	l.ledger.Stop(decline)
	l.inbox.Do()
}

// startTick is the longest time that a prefetched task waits until start looks at it again.
// gatherFor is how long the loop gathers ends while at least gatherStock tasks are ready in the
// lanes.
const (
	startTick   = 50 * time.Millisecond
	gatherFor   = 3 * time.Millisecond
	gatherStock = 100 // tasks: more than can start within gatherFor
)

// sleep waits until there is something to do: a runner reports, a notification comes, a plan is
// reached, a pause ends, or a duty is due.
func (l *loop) sleep(ctx context.Context) (err error) {
	l.gather(ctx)
	if !l.drain.on() {
		fell, err := l.wake.FallAsleep(ctx)
		if err != nil {
			return err
		}
		if fell {
			l.changes.Want()
		}
	}
	if d := l.doze(); d > 0 {
		l.stats.Moves(d)
		heard, cancel := l.wake.Wait(ctx, d)
		select {
		case <-l.inbox.Poked():
		case <-l.target.Changes.Poked():
		case <-l.drain.wanted():
		case err = <-heard:
			heard = nil
		}
		if cancel(); heard != nil {
			err = <-heard
		}
	}
	l.drain.look()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// gather waits a moment while runners have enough tasks: ends collect, and so does room for reads.
// A statement for a few rows costs as much as one for twenty.
func (l *loop) gather(ctx context.Context) {
	if !l.runs.Lanes.Stocked(gatherStock) || l.asked() || l.drain.on() {
		return
	}
	select {
	case <-time.After(gatherFor):
	case <-l.inbox.Asked():
	case <-ctx.Done():
	}
}
