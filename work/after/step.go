package after

import (
	"context"
	"math"
	"slices"
	"time"

	"pgtaskd/work/hold"
)

const (
	servedMost = 100         // ended tasks whose successors are looked at together
	stockMost  = 1000        // tasks that are due; where there are more, successors take their time:
	serveTick  = time.Second // from some to the next, as other lanes may have room for them
	dueMost    = 500_000     // tasks that are due; where there are more, successors wait
)

// Next is when there is something to look at; never is the greatest.
func (s *Successors) Next() time.Duration {
	if s.newcomers.any() {
		return 0
	}
	return min(s.nextServe(), s.surveys.next(s.awaited.any()))
}

// Step looks at successors of tasks that have ended, at new ones, and from time to time at all that
// is waited for. Each step takes little time, whatever the length of after.
func (s *Successors) Step(ctx context.Context) error {
	if s.surveys.due(s.awaited.any()) {
		if err := s.survey(ctx); err != nil {
			return err
		}
	}
	if s.nextServe() <= 0 {
		if err := s.serve(ctx); err != nil {
			return err
		}
	}
	if s.newcomers.any() {
		return s.meet(ctx)
	}
	return nil
}

// nextServe is when the successors of tasks that have ended may be looked at.
func (s *Successors) nextServe() time.Duration {
	if len(s.awaited.ended) == 0 {
		return math.MaxInt64
	}
	switch ready := s.Ready(); {
	case ready < stockMost:
		return 0
	case ready >= dueMost:
		return serveTick
	}
	return serveTick - time.Since(s.served)
}

// serve looks at some successors of some tasks that have ended.
func (s *Successors) serve(ctx context.Context) error {
	some := s.awaited.next(servedMost)
	most := max(hold.Batch/max(len(some), 1), 1)
	of, err := s.statements.successors(ctx, some, most)
	if err != nil {
		s.awaited.ended = append(s.awaited.ended, some...)
		return err
	}
	var all []int64
	for _, id := range some {
		all = append(all, of[id]...)
	}
	seen, late, err := s.resolve(ctx, all)
	for _, id := range some {
		served := 0
		for _, one := range of[id] {
			if seen[one] {
				served++
			}
		}
		switch {
		case !s.awaited.all[id]: // it runs again
		case err == nil && served == len(of[id]) && served < most:
			delete(s.awaited.all, id)
		case err == nil && served == 0 && len(late) == 0: // somebody has locked them: the next survey finds them again
			delete(s.awaited.all, id)
			s.surveys.wanted = true
		default:
			s.awaited.ended = append(s.awaited.ended, id)
		}
	}
	s.served = time.Now()
	return err
}

// meet finds out what some newcomers wait for.
func (s *Successors) meet(ctx context.Context) error {
	some := s.newcomers.next()
	seen, late, err := s.resolve(ctx, some)
	s.newcomers.waiting = append(s.newcomers.waiting, late...)
	for _, id := range some {
		switch {
		case slices.Contains(late, id):
			continue
		case seen[id]:
			s.Holds.Forget(id)
		default: // somebody has locked it
			s.Changes.PutOff(id)
		}
		delete(s.newcomers.known, id)
	}
	return err
}
