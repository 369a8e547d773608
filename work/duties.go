package work

import (
	"context"
	"math"
	"time"

	"pgtaskd/work/keep"
	"pgtaskd/work/pool"
	"pgtaskd/work/read"
)

// duty is something that the loop does again and again while it leads. do runs in each round, and
// does what is to be done by then. next is how long that can wait while nobody wakes the loop; nil:
// until somebody does.
type duty struct {
	next func() time.Duration
	do   func(context.Context) error
}

// due is a duty that is done when its time has come, and not before.
func due(next func() time.Duration, do func(context.Context) error) duty {
	return duty{next: next, do: func(ctx context.Context) error {
		if next() > 0 {
			return nil
		}
		return do(ctx)
	}}
}

// always is a duty that cannot fail.
func always(do func()) func(context.Context) error {
	return func(context.Context) error {
		do()
		return nil
	}
}

// never is the next of a duty for which there is nothing to do.
const never = time.Duration(math.MaxInt64)

// timetable lists the duties, in the order in which a round does them. The round and the sleep both
// read it.
func (l *loop) timetable() []duty {
	survey := keep.NewSurvey(l.control, l.stats, l.tasks)
	return []duty{
		{do: l.change},
		{do: always(l.listen)},
		{do: l.inbox.Enlist},
		due(l.groups.Next, l.groups.Step),
		{do: l.post, next: l.nextPost},
		{do: l.ends.Step, next: l.ends.Next},
		due(l.disk.Next, l.disk.Step),
		{do: l.answer, next: l.nextAnswer},
		due(l.judge.Next, l.judge.Step),
		{do: l.rescan, next: l.nextScan},
		l.drain.rests(due(l.expire.Next, l.expire.Step)),
		l.drain.rests(duty{do: l.successors.Step, next: l.successors.Next}),
		due(l.shape.silence, l.comesNext),
		{do: l.watch.Step, next: l.watch.Next},
		{do: l.prefetch.Step, next: l.prefetch.Next},
		due(l.ends.Deletes.Next, l.ends.Deletes.Sweep),
		l.drain.rests(due(l.walk.Next, l.walk.Step)),
		{do: l.drain.rests(duty{do: l.table.Guard}).do},
		{do: l.handOver, next: l.drain.next},
		{do: func(ctx context.Context) error { return l.leads.Show(ctx, !l.leads.Handed()) }},
		{do: l.drain.rests(due(survey.Next, survey.Step)).do}, // nothing wakes for it
		{do: always(l.log.TellLeftOut)},
		{do: always(l.pace.look)},
		{do: always(l.runs.CallBack)}, // who are with the server behind a task that lasts wait again
		{do: always(l.runs.Dispatch), next: l.nextDispatch},
		{do: l.closeIdle},
	}
}

// round does all that is to be done now.
func (l *loop) round(ctx context.Context) error {
	for _, d := range l.duties {
		if err := d.do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// doze is how long there is nothing to do, if nobody wakes us.
func (l *loop) doze() time.Duration {
	wait := never
	for _, d := range l.duties {
		if d.next != nil {
			wait = min(wait, d.next())
		}
	}
	return max(wait, 0)
}

func (l *loop) nextAnswer() time.Duration {
	if l.asked() {
		return 0
	}
	return l.marks.Next()
}

// rescan looks for tasks that have become due. In a drain there is none to be found.
func (l *loop) rescan(ctx context.Context) error {
	if l.drain.on() {
		l.scan.Rest()
		return nil
	}
	if l.notices.Changed {
		l.doubt()
	}
	return l.scan.Step(ctx)
}

func (l *loop) nextScan() time.Duration { return l.scan.Next(l.drain.on()) }

// nextDispatch is when a pause in a lane is over, and soon while a task that was read waits.
func (l *loop) nextDispatch() time.Duration {
	next := never
	if at, ok := l.runs.Lanes.Wake(); ok {
		next = l.runs.Clock.Until(at) + read.ClockMargin
	}
	if _, waiting, _ := l.runs.Lanes.Load(); waiting > 0 {
		next = min(next, startTick)
	}
	return next
}

// closeIdle ends sessions that nobody has needed for a while.
func (l *loop) closeIdle(context.Context) error {
	l.runs.Pool.Look()
	l.closeLater(l.runs.Pool.Stale(l.live.Load().Idle))
	return nil
}

// closeLater ends sessions while the loop goes on: a server takes its time to let them go.
func (l *loop) closeLater(old []*pool.Session) {
	if len(old) > 0 {
		l.crew.Go(func() { pool.Close(old) })
	}
}
