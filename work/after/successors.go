package after

import (
	"context"
	"math"
	"slices"
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
)

// mostKnown is how many newcomers are known, and how many tasks that are waited for. Scans and surveys
// find the others later.
const mostKnown = 1_000_000

// Successors are the tasks that wait for others, as far as they are known.
type Successors struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Ready   func() int                                      // how many tasks are known to be due
	Free    func(group, remote []byte, successor lane.Rank) // called for one that is due and waits no more
	Want    func()                                          // called when one waits no more that may become due
	Ended   func([]change.Changed)                          // called with those that were given up

	newcomers map[int64]bool // nobody has looked at what they wait for
	awaited   map[int64]bool // what others wait for; true: it has ended, and is in ended
	ended     []int64        // in this order; their successors are still to be looked at
	surveys   surveys
	served    time.Time // when successors of tasks that have ended were looked at last
}

// Clear forgets all: a term begins, or has ended. It comes before anything else.
func (s *Successors) Clear() {
	s.newcomers, s.awaited, s.ended = map[int64]bool{}, map[int64]bool{}, nil
	s.surveys, s.served = surveys{}, time.Time{}
}

// Add takes note of a successor that is new, or whose after was changed: what it waits for is to be
// found out.
func (s *Successors) Add(id int64) {
	if len(s.newcomers) < mostKnown {
		s.newcomers[id] = true
	}
}

// Over takes note that a task has ended, or may have.
func (s *Successors) Over(id int64) {
	if _, known := s.awaited[id]; known {
		s.enqueue(id)
	}
}

// EndedAs takes note of the state in which a task has ended. If it has not ended well, tasks that name
// it and wait for another one need not go on waiting.
func (s *Successors) EndedAs(id int64, state string) {
	v, ill := &s.surveys, state == "FAIL" || state == "GONE" || state == "STOP"
	if ill && len(s.awaited) > 0 && len(v.ill) < illMost {
		v.ill, v.wanted = append(v.ill, id), true
	}
}

// Doubt takes note that something may have ended, or wait for something else, without our doing.
func (s *Successors) Doubt() { s.surveys.wanted = s.surveys.wanted || len(s.awaited) > 0 }

// await takes note that somebody waits for a task, which is still to end.
func (s *Successors) await(id int64) {
	if _, known := s.awaited[id]; known || len(s.awaited) < mostKnown {
		s.awaited[id] = false
	}
}

// enqueue takes note that a task which is waited for has ended.
func (s *Successors) enqueue(id int64) {
	if !s.awaited[id] {
		s.awaited[id], s.ended = true, append(s.ended, id)
	}
}

const (
	servedMost = 100         // ended tasks whose successors are looked at together
	stockMost  = 1000        // tasks that are due; where there are more, successors take their time:
	serveTick  = time.Second // from some to the next, as other lanes may have room for them
	dueMost    = 500_000     // tasks that are due; where there are more, successors wait
)

// Next is when there is something to look at; never is the greatest.
func (s *Successors) Next() time.Duration {
	if len(s.newcomers) > 0 {
		return 0
	}
	return min(s.nextServe(), s.nextSurvey())
}

// Step looks at successors of tasks that have ended, at new ones, and from time to time at all that
// is waited for. Each step takes little time, whatever the length of after.
func (s *Successors) Step(ctx context.Context) error {
	if s.nextSurvey() <= 0 || time.Since(s.surveys.last) >= surveyTick {
		if err := s.survey(ctx); err != nil {
			return err
		}
	}
	if s.nextServe() <= 0 {
		if err := s.serve(ctx); err != nil {
			return err
		}
	}
	if len(s.newcomers) > 0 {
		return s.meet(ctx)
	}
	return nil
}

// nextServe is when the successors of tasks that have ended may be looked at.
func (s *Successors) nextServe() time.Duration {
	if len(s.ended) == 0 {
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
	var some, all []int64
	for len(some) < servedMost && len(s.ended) > 0 {
		if id := s.ended[0]; s.awaited[id] { // else it runs again
			some = append(some, id)
		}
		s.ended = s.ended[1:]
	}
	if len(some) == 0 {
		return nil
	}
	most := max(hold.Batch/len(some), 1)
	of := map[int64][]int64{}
	var id, one int64
	err := s.Control.Each(ctx, "successors", []any{some, most}, []any{&id, &one}, func() error {
		of[id], all = append(of[id], one), append(all, one)
		return nil
	})
	if err != nil {
		s.ended = append(s.ended, some...)
		return err
	}
	seen, late, err := s.resolve(ctx, all)
	for _, id := range some {
		unseen := slices.DeleteFunc(slices.Clone(of[id]), func(one int64) bool { return seen[one] })
		served := len(of[id]) - len(unseen)
		switch {
		case !s.awaited[id]: // it runs again
		case err == nil && len(unseen) == 0 && served < most:
			delete(s.awaited, id)
		case err == nil && served == 0 && len(late) == 0: // somebody has locked them: the next survey finds them again
			delete(s.awaited, id)
			s.surveys.wanted = true
		default:
			s.ended = append(s.ended, id)
		}
	}
	s.served = time.Now()
	return err
}

// meet finds out what some newcomers wait for. Those for which there is no time stay.
func (s *Successors) meet(ctx context.Context) error {
	var some []int64
	for id := range s.newcomers {
		if some = append(some, id); len(some) == hold.Batch {
			break
		}
	}
	seen, late, err := s.resolve(ctx, some)
	for _, id := range some {
		switch {
		case slices.Contains(late, id):
			continue
		case seen[id]:
			s.Holds.Forget(id)
		default: // somebody has locked it
			s.Changes.PutOff(id)
		}
		delete(s.newcomers, id)
	}
	return err
}
