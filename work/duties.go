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
	next  func() time.Duration // how long that can wait while nobody wakes the loop; nil: until somebody does
	timed bool                 // it is done when next is over, and not before
	rests bool                 // in a drain
}

// timetable lists the duties, in the order in which a round does them. The round and the sleep both
// read it.
func (l *loop) timetable() []duty {
	survey := &keep.Survey{Control: l.control, Stats: l.stats, Tasks: l.tasks}
	return []duty{
		{do: l.hear},
		{do: l.leader.groups.Step, next: l.leader.groups.Next, timed: true},
		{do: l.post, next: l.ledger.Next},
		{do: l.ends.Step, next: l.ends.Next},
		{do: l.leader.disk.Step, next: l.leader.disk.Next, timed: true},
		{do: l.answer, next: l.nextAnswer},
		{do: l.leader.judge.Step, next: l.leader.judge.Next, timed: true},
		{do: l.leader.rescan, next: l.leader.nextScan},
		{do: l.leader.expire.Step, next: l.leader.expire.Next, timed: true, rests: true},
		{do: l.leader.successors.Step, next: l.leader.successors.Next, rests: true},
		{do: l.leader.comesNext, next: l.leader.shape.silence, timed: true},
		{do: l.leader.judge.Watch.Step, next: l.leader.judge.Watch.Next},
		{do: l.leader.prefetch.Step, next: l.leader.prefetch.Next},
		{do: l.ends.Deletes.Sweep, next: l.ends.Deletes.Next, timed: true},
		{do: l.leader.walk.Step, next: l.leader.walk.Next, timed: true, rests: true},
		{do: l.table.Guard, rests: true},
		{do: l.handOver, next: l.drain.next},
		{do: l.show},
		{do: survey.Step, next: survey.Next, timed: true, rests: true},
		{do: l.start, next: l.leader.nextDispatch},
	}
}

// round does all that is to be done now.
func (l *loop) round(ctx context.Context) error {
	for _, d := range l.duties {
		if d.rests && l.drain.on() || d.timed && d.next() > 0 {
			continue
		}
		if err := d.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// doze is how long there is nothing to do, if nobody wakes us.
func (l *loop) doze() time.Duration {
	wait := hold.Never
	for _, d := range l.duties {
		if d.next != nil && !(d.rests && l.drain.on()) {
			wait = min(wait, d.next())
		}
	}
	return max(wait, 0)
}

// hear takes up what others have said: settings that have changed, outcomes, questions.
func (l *loop) hear(ctx context.Context) error {
	if latest := l.target.Changes.Latest(); latest != nil && latest != l.live.Load() {
		l.runs.Lanes.Slots.Resize(latest.Run)
		l.live.Store(latest)
		l.leader.walk.Restart()
		l.log.Info().Int("run", latest.Run).Str("sleep", human.Duration(latest.Sleep)).
			Str("grace", human.Duration(latest.Grace)).Str("idle", human.Duration(latest.Idle)).
			Int64("output_limit", latest.OutputLimit).Msg("settings changed")
	}
	l.inbox.Take()
	return l.inbox.Enlist(ctx)
}

// show has the table of controllers show whether we lead.
func (l *loop) show(ctx context.Context) error { return l.leads.Show(ctx, !l.leads.Handed) }

// start starts tasks, and ends sessions that nobody has needed for a while.
func (l *loop) start(context.Context) error {
	l.log.TellLeftOut()
	l.runs.Lanes.Pace()
	l.runs.CallBack() // pipelined tasks after one that lasts wait again
	l.runs.Dispatch()
	l.runs.Pool.Look()
	l.closeLater(l.runs.Pool.Stale(l.live.Load().Idle))
	return nil
}

// The ledger writes most of what happens to rows: the marks that runners wait for, the ends of
// tasks that ran well and that nothing follows, and, asked by the runners themselves, preparations.
// The entries that it passes over come back, and later duties look closer at them.

// post hands the ledger what it can write, has it write that if it has no connection of its own,
// and takes down what it has written.
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

// answer answers the questions of runners, and sets the marks that they wait for. After a handover it
// answers no; the ledger goes on for what still runs.
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

// asked tells whether runners wait for us.
func (l *loop) asked() bool { return l.inbox.Waited() || l.marks.Asked() }

// decline answers no to them: while another controller leads, we can do nothing for them, and their
// sessions would never be free.
func (l *loop) decline() {
	l.inbox.Take()
	l.stopLedger(true)
	l.inbox.Decline()
	l.marks.Decline()
}

// stopLedger takes back what the ledger has not written, at the end of a term. The next term writes
// what runners wait for, unless decline is set: then another controller leads.
func (l *loop) stopLedger(decline bool) {
	l.ledger.Stop(decline)
	l.inbox.Do()
}

// startTick is how long a task that was read waits at most until start looks at it again. gatherFor
// is how long the loop gathers ends if the lanes have gatherStock tasks to go on with.
const (
	startTick   = 50 * time.Millisecond
	gatherFor   = 3 * time.Millisecond
	gatherStock = 100 // tasks: more than start in that time
)

// sleep waits until there is something to do: a runner's word, a notification, the next plan, the
// end of a pause, or the time for one of the regular looks.
func (l *loop) sleep(ctx context.Context) (err error) {
	l.gather(ctx)
	if !l.drain.on() {
		fell, err := l.wake.FallAsleep(ctx)
		if err != nil {
			return err
		}
		if fell {
			l.leader.want()
		}
	}
	if d := l.doze(); d > 0 {
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

// gather lets ends come together, and room for reads, while runners have enough to go on with: a
// statement for a few rows costs as much as one for twenty.
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
