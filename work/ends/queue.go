package ends

import (
	"context"
	"slices"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// queue holds the ends that are not written yet. It knows no server.
type queue struct {
	fresh []End
	aside []End // their rows, or something that follows, are locked; other tasks start meanwhile

	size   int        // memory that aside uses, in bytes, roughly
	next   time.Time  // nothing in aside is tried before this time
	sizer  hold.Sizer // how many ends go into the next statement
	drains bool       // a drain is under way
}

const (
	asideEach = 4 << 10   // bytes for each end, without its texts
	asideMost = 128 << 20 // no task starts while size is greater
)

// add queues an end to be written next.
func (q *queue) add(e End) { q.fresh = append(q.fresh, e) }

// memory is about how many bytes an end uses.
func (e *End) memory() int {
	n := asideEach + e.Size()
	for _, text := range []*string{e.Task.Row.Input, e.Task.Row.Data} {
		if text != nil {
			n += len(*text)
		}
	}
	return n
}

// alone reports whether an end may hold up others and is written alone: a try has failed, or what
// follows on its task may be much.
func (e *End) alone() bool { return e.hasFailed() || e.Task.TooLong }

// due returns when to write an end.
func (q *queue) due(e *End) time.Time {
	if until := q.sizer.Until(); e.alone() && until.After(e.backoff.After) {
		return until
	}
	return e.backoff.After
}

// keep queues an end for the next try. It stays among the new ends if it was never set aside and
// holds up no others.
func (q *queue) keep(e End) {
	if e.backoff.Since.IsZero() && !e.alone() {
		q.add(e)
		return
	}
	q.setAside(e)
}

// setAside queues an end so that other ends do not wait for it. Its runner is let go meanwhile,
// except in a drain if the row is marked: the next leader looks at the session.
func (q *queue) setAside(e End) {
	if e.backoff.Since.IsZero() {
		e.backoff.Since = time.Now()
	}
	if !e.Known.Marked || !q.drains {
		e.release()
	}
	if due := q.due(&e); len(q.aside) == 0 || due.Before(q.next) {
		q.next = due
	}
	q.aside, q.size = append(q.aside, e), q.size+e.memory()
}

// release lets the runner go on that waits until this end is written.
func (e *End) release() {
	if e.Written != nil {
		close(e.Written)
		e.Written = nil
	}
}

// take removes and returns the waiting ends that match.
func (q *queue) take(which func(*End) bool) (taken []End) {
	q.aside = slices.DeleteFunc(q.aside, func(e End) bool {
		if !which(&e) {
			return false
		}
		q.size -= e.memory()
		taken = append(taken, e)
		return true
	})
	return taken
}

// takeAll removes and returns all ends.
func (q *queue) takeAll() []End {
	all := slices.Concat(q.fresh, q.aside)
	q.fresh, q.aside, q.size = nil, nil, 0
	return all
}

// ripe removes and returns all ends that are due: the new ones first, then those that are tried
// again, in the order in which they are due. So an end that has failed delays no other.
func (q *queue) ripe(now time.Time) []End {
	all := q.fresh
	q.fresh = nil
	if len(q.aside) == 0 || now.Before(q.next) {
		return all
	}
	ripe := q.take(func(e *End) bool { return !q.due(e).After(now) })
	for i := range q.aside {
		if due := q.due(&q.aside[i]); i == 0 || due.Before(q.next) {
			q.next = due
		}
	}
	slices.SortStableFunc(ripe, func(a, b End) int { return a.backoff.After.Compare(b.backoff.After) })
	return append(all, ripe...)
}

// putBack queues those ends for the next try that are still to be written and are not in the queue.
func (q *queue) putBack(ends []End, still func(*End) bool) {
	kept := map[*inflight.Task]bool{}
	for _, e := range slices.Concat(q.fresh, q.aside) {
		kept[e.Known] = true
	}
	for _, e := range ends {
		if !kept[e.Known] && still(&e) {
			q.keep(e)
		}
	}
}

// postpone queues ends for which the duty had no time: other duties come in between.
func (q *queue) postpone(ends []End) {
	now := time.Now()
	for _, e := range ends {
		if e.backoff.After.IsZero() {
			e.backoff.Since, e.backoff.After = now, now
		}
		q.setAside(e)
	}
}

// rest returns how long there is nothing to write.
func (q *queue) rest() time.Duration {
	switch {
	case len(q.fresh) > 0:
		return 0
	case len(q.aside) > 0:
		return time.Until(q.next)
	}
	return hold.Never
}

// togetherMost is the maximum size of a statement that writes both a and b.
func (q *queue) togetherMost(a, b *End) int {
	switch {
	case a.Kind != b.Kind || a.alone() || b.alone():
		return 1
	case a.Kind == run.Released: // nothing follows on these
		return hold.Batch
	}
	return q.sizer.Batch(hold.Batch)
}

// settle forgets the tasks whose ends are written, and finds out why the other ends are not.
func (s *Ends) settle(ctx context.Context, ends []End, some []change.Changed, free bool) error {
	written := map[int64]change.Changed{}
	for _, c := range some {
		written[c.ID] = c
	}
	var open []End
	var claims []inflight.Claim
	for _, e := range ends {
		if c, is := written[e.Task.Row.ID]; is {
			s.wrote(&e, c)
			continue
		}
		open, claims = append(open, e), append(claims, inflight.ClaimOf(e.Known, e.PID))
	}
	standings, err := inflight.Standings(ctx, s.Control, claims)
	if err != nil {
		return err
	}
	for _, e := range open {
		if err := s.look(ctx, e, standings[e.Task.Row.ID], free); err != nil {
			return err
		}
	}
	return s.Deletes.Step(ctx)
}

// wrote handles an end that its row shows now.
func (s *Ends) wrote(e *End, c change.Changed) {
	if c.State == "PLAN" {
		s.Changes.Want()
	}
	if e.Kind != run.Released {
		s.Tries.Forget(c.ID)
	}
	if c.Empty && !e.isLess() {
		s.Deletes.Add(c.ID)
	}
	if c.State == "GONE" {
		s.Changes.Ended([]change.Changed{c})
		s.Stats.Skips(target.Superseded, 1)
	} else {
		s.Ended(e, c.State)
	}
	s.Forget(e)
}

// look handles an end that was passed over, by what its row shows.
func (s *Ends) look(ctx context.Context, e End, shows inflight.Standing, free bool) error {
	id := e.Task.Row.ID
	switch e.passedOver(shows, free) {
	case wait:
		if s.queue.keep(e); shows.Ours && free {
			s.tellLess(&e, fault.ErrKept)
		} else if shows.Ours {
			return s.tellOfLock(ctx, &e)
		}
	case giveUp:
		s.leaveAlone(&e, fault.ErrKept)
	case forget:
		if shows.State == "DONE" && e.Result != nil && e.Result.Output == nil { // we wrote it, but got no answer
			s.Deletes.Later(id)
		}
		if shows.State == "PLAN" { // somebody changes the row, and may again: the next run is marked before it starts
			s.Tries.Again(id)
		}
		s.Forget(&e)
		s.Changes.Want() // the task, or another row in its place, may wait again
	}
	return nil
}

func (s *Ends) tellOfLock(ctx context.Context, e *End) error {
	return s.Changes.TellOfLock(ctx, e.backoff.Since, e.Task.Row.ID, e.Task.Row.Key)
}

// leaveAlone gives up a row that takes no end at all. The row stays as it is while we lead, or
// until somebody changes its state; its lane is free. If it still says PLAN, the task runs once
// more, marked first: then the row stays WORK. If it takes no mark either, the task is tried again
// later.
func (s *Ends) leaveAlone(e *End, err error) {
	id := e.Task.Row.ID
	shown := e.Known.Marked || e.Xact != 0 // the row says WORK
	if !e.Task.Marks.Load() && !shown {
		s.Tries.Again(id)
		s.waitsAgain(e)
		return
	}
	s.Log.Error().Err(err).Int64("id", id).
		Str("hint", "fix what refuses it, and set the row's state; until then the task may run again when another controller leads").
		Msg("table refuses every end of a task; row left unchanged")
	why := hold.Refuses
	if shown { // otherwise the task would run again
		why = hold.Stuck
	}
	s.Holds.PutAfter(id, why, 0)
	s.Forget(e)
}
