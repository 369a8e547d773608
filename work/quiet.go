package work

import (
	"context"
	"time"

	"pgtaskd/work/hold"
)

// quietLeast is the shortest rest: for less it is not worth closing the connections. quietEarly is
// how long before the next plan the controller is back, as a database that sleeps takes a moment.
const (
	quietLeast = 2 * time.Second
	quietEarly = time.Second
)

// A target that was given up is left to others for yieldPause. If it comes back, it stays for yieldRest.
const (
	yieldPause = 3 * time.Second
	yieldRest  = 5 * time.Minute
)

// resting ends the term of a target that had no work for as long as quiet says: everything is
// closed for a while, so that the database may sleep. Or it yields: another controller shall lead.
type resting struct {
	rest   time.Duration
	yields bool
}

func (r *resting) Error() string { return "resting for " + r.rest.String() }

// nextRest is the time until the target may rest. Work are tasks under way or due, news of such, ends
// and deletions that are not written, and a walk that has begun.
func (l *loop) nextRest() time.Duration {
	quiet := l.live.Load().Quiet
	switch {
	case quiet == 0:
		return hold.Never
	case l.leader.working() || l.busy():
		l.trouble.worked, l.trouble.rested = time.Now(), false
		return hold.Never
	case l.ledger.Len()+l.ends.Len() > 0, l.leader.scan.Pending(), l.ends.Deletes.Next() < hold.Never, l.leader.walk.Walks(),
		l.leader.rest() < quietLeast:
		return hold.Never
	}
	return quiet - time.Since(l.trouble.worked)
}

// rest ends the term. First it reads the earliest plan once more: no notification tells of plans
// far ahead.
func (l *loop) rest(ctx context.Context) error {
	if err := l.leader.comesNext(ctx); err != nil || l.nextRest() > 0 {
		return err
	}
	_ = l.leads.Show(ctx, false)
	return &resting{rest: min(l.live.Load().Quiet, l.leader.rest())}
}

// rest is the time until the leader has something to do of which nobody tells it: until a plan, or
// the end of a pause or of another wait.
func (l *leader) rest() time.Duration {
	next := min(l.scan.Plan(), l.groups.Resumes())
	if held, ok := l.holds.Next(time.Time{}); ok {
		next = min(next, held)
	}
	return next - quietEarly
}

// yield ends the term of a target without work if another controller that stands by leads far fewer.
func (l *leader) yield(ctx context.Context) error {
	more, err := l.leads.LeadsFarMore(ctx)
	if err != nil || !more {
		return err
	}
	return &resting{rest: yieldPause, yields: true}
}

// nextYield is the time until yield. A target that has come back lately stays: the others may not be
// able to serve it.
func nextYield(l *leader, yielded time.Time) time.Duration {
	if l.working() || l.busy() || time.Since(yielded) < yieldRest {
		return hold.Never
	}
	return l.leads.NextLook()
}
