package ends

import (
	"context"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/run"
)

// settle forgets the tasks whose ends are written, and looks what is the matter with the others.
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

// wrote takes note of an end that its row shows.
func (s *Ends) wrote(e *End, c change.Changed) {
	if c.State == "PLAN" {
		s.Want()
	}
	if e.Kind != run.Released {
		s.Tries.Forget(c.ID)
	}
	if c.Empty && !e.isLess() {
		s.Deletes.Add(c.ID)
	}
	if c.State == "GONE" {
		s.Counts([]change.Changed{c})
	} else {
		s.Ended(e, c.State)
	}
	s.Forget(e)
}

// look sees to an end that was passed over, by what its row shows.
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
		if shows.State == "DONE" && e.Result != nil && e.Result.Output == nil { // we have written that, and not heard of it
			s.Deletes.Later(id)
		}
		if shows.State == "PLAN" { // somebody changes it, and may again: the next run is marked before it starts
			s.Tries.Again(id)
		}
		s.Forget(&e)
		s.Want() // it may wait again, or another row in its place
	}
	return nil
}

func (s *Ends) tellOfLock(ctx context.Context, e *End) error {
	return s.Changes.TellOfLock(ctx, e.backoff.Since, e.Task.Row.ID, e.Task.Row.Key)
}

// leaveAlone gives up a row that takes no end at all. It stays as it is for as long as we lead, or
// until somebody changes its state, and its lane is free. If it still says PLAN, its task runs once
// more, marked first: then it stays WORK. If it takes no mark either, it is tried again after a while.
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
	if shown { // its task would run again
		why = hold.Stuck
	}
	s.Holds.PutAfter(id, why, 0)
	s.Forget(e)
}
