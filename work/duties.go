package work

import (
	"context"
	"math"
	"time"
)

// duty is something that the loop does again and again while it leads. do runs in each round, and
// does what is to be done by then. next is how long that can wait while nobody wakes the loop; nil:
// until somebody does.
type duty struct {
	name string
	next func() time.Duration
	do   func(context.Context) error
}

// dutyPart is how long a duty takes at once about that of which there may be a million: the others
// come in between.
const dutyPart = 50 * time.Millisecond

// never is the next of a duty for which there is nothing to do.
const never = time.Duration(math.MaxInt64)

// timetable lists the duties, in the order in which a round does them. The round and the sleep both
// read it.
func (l *loop) timetable() []duty {
	return []duty{
		{name: "settings", do: l.change},
		{name: "news", do: l.listen},
		{name: "register", do: l.enlist},
		{name: "limits of groups", do: l.regroup, next: l.nextRegroup},
		{name: "mark", do: l.mark, next: l.nextMark},
		{name: "ends and marks", do: l.post, next: l.nextPost},
		{name: "ends", do: l.write, next: l.nextWrite},
		{name: "disk", do: l.lookAtDisk, next: l.nextDisk},
		{name: "answers", do: l.answer, next: l.nextAnswer},
		{name: "recover", do: l.recover, next: l.nextRecover},
		{name: "scan", do: l.rescan, next: l.nextScan},
		{name: "give up what is overdue", do: l.expire, next: l.nextExpire},
		{name: "successors", do: l.seeToSuccessors, next: l.nextSuccessors},
		{name: "beat", do: l.beat, next: l.silence},
		{name: "check", do: l.check, next: l.nextCheck},
		{name: "prefetch", do: l.prefetch, next: l.nextPrefetch},
		{name: "delete", do: l.sweep, next: l.nextSweep},
		{name: "walk", do: l.walk, next: l.nextWalk},
		{name: "size of the history", do: l.weigh, next: l.nextWeigh},
		{name: "rivals", do: l.reassure},
		{name: "door", do: l.guard},
		{name: "hand over", do: l.handOver, next: l.nextDrain},
		{name: "show who leads", do: l.present},
		{name: "metrics of the table", do: l.survey},
		{name: "tasks that the log leaves out", do: l.tellLeftOut},
		{name: "pace", do: l.pace},
		{name: "call back", do: l.callBack},
		{name: "dispatch", do: l.dispatch, next: l.nextDispatch},
		{name: "idle sessions", do: l.closeIdle},
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

// nextMark comes soon while a task runs whose row does not show it.
func (l *loop) nextMark() time.Duration {
	for _, t := range l.tasks {
		if !t.marked && !t.noMark && !t.ending {
			return markTick
		}
	}
	return never
}

// nextWrite is when an end is to be written, or tried again.
func (l *loop) nextWrite() time.Duration {
	switch {
	case len(l.unsaid) > 0:
		return 0
	case len(l.aside.ends) > 0:
		return time.Until(l.aside.next)
	}
	return never
}

func (l *loop) nextAnswer() time.Duration {
	if len(l.asks) > 0 {
		return lostTick
	}
	return never
}

func (l *loop) nextRecover() time.Duration {
	if len(l.lost)+len(l.orphans) > 0 {
		return lostTick - time.Since(l.look.orphans)
	}
	return never
}

// nextScan is when something may have become due that we do not know, or all has to be looked at.
func (l *loop) nextScan() time.Duration {
	noticed, urgent := l.wake.Noticed()
	if urgent || l.scanning.active {
		return 0
	}
	next := l.every() - time.Since(l.look.full)
	sooner := func(other time.Duration) { next = min(next, other) }
	if l.look.wanted || noticed {
		sooner(l.scanDelay())
	}
	if l.draining.IsZero() {
		sooner(l.wake.Rest(l.look.scan))
	}
	if l.look.later {
		sooner(l.rest() - time.Since(l.look.full))
	}
	if !l.look.next.IsZero() {
		sooner(l.Clock.Until(l.look.next) + clockMargin)
	}
	if !l.grouping.resumes.IsZero() && l.draining.IsZero() {
		sooner(l.Clock.Until(l.grouping.resumes) + clockMargin)
	}
	for _, p := range l.parked {
		if l.look.full.Before(p.until) {
			sooner(time.Until(p.until))
		}
	}
	return next
}

func (l *loop) nextCheck() time.Duration {
	if busy, _, _ := l.Lanes.Load(); busy > 0 {
		return l.checkDelay()
	}
	return never
}

func (l *loop) nextPrefetch() time.Duration {
	if l.Lanes.Prefetchable() && !l.clogged() {
		return 0
	}
	return never
}

func (l *loop) nextSweep() time.Duration {
	if len(l.empty) > 0 {
		return time.Second - time.Since(l.look.swept)
	}
	return never
}

// nextDrain is when the grace of a drain is over.
func (l *loop) nextDrain() time.Duration {
	if l.draining.IsZero() || l.cancelled {
		return never
	}
	return l.live.Load().Grace - time.Since(l.draining)
}

// nextDispatch is when a pause in a lane is over, and soon while a task that was read waits.
func (l *loop) nextDispatch() time.Duration {
	next := never
	if at, ok := l.Lanes.Wake(); ok {
		next = l.Clock.Until(at) + clockMargin
	}
	if _, waiting, _ := l.Lanes.Load(); waiting > 0 {
		next = min(next, markTick)
	}
	return next
}
