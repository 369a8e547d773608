package work

import (
	"context"
	"math"
	"time"

	"pgtaskd/work/keep"
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
	survey := &keep.Survey{Control: l.control, Stats: l.stats, Tasks: l.tasks}
	return []duty{
		{do: l.change},
		{do: always(l.inbox.Take)},
		{do: l.inbox.Enlist},
		due(l.leader.groups.Next, l.leader.groups.Step),
		{do: l.post, next: l.ledger.Next},
		{do: l.ends.Step, next: l.ends.Next},
		due(l.leader.disk.Next, l.leader.disk.Step),
		{do: l.answer, next: l.nextAnswer},
		due(l.leader.judge.Next, l.leader.judge.Step),
		{do: l.leader.rescan, next: l.leader.nextScan},
		l.drain.rests(due(l.leader.expire.Next, l.leader.expire.Step)),
		l.drain.rests(duty{do: l.leader.successors.Step, next: l.leader.successors.Next}),
		due(l.leader.shape.silence, l.leader.comesNext),
		{do: l.leader.judge.Watch.Step, next: l.leader.judge.Watch.Next},
		{do: l.leader.prefetch.Step, next: l.leader.prefetch.Next},
		due(l.ends.Deletes.Next, l.ends.Deletes.Sweep),
		l.drain.rests(due(l.leader.walk.Next, l.leader.walk.Step)),
		{do: l.drain.rests(duty{do: l.table.Guard}).do},
		{do: l.handOver, next: l.drain.next},
		{do: func(ctx context.Context) error { return l.leads.Show(ctx, !l.leads.Handed) }},
		{do: l.drain.rests(due(survey.Next, survey.Step)).do}, // nothing wakes for it
		{do: always(l.log.TellLeftOut)},
		{do: always(l.runs.Lanes.Pace)},
		{do: always(l.runs.CallBack)}, // who are with the server behind a task that lasts wait again
		{do: always(l.runs.Dispatch), next: l.leader.nextDispatch},
		{do: l.leader.closeIdle},
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
