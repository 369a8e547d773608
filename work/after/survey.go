package after

import (
	"context"
	"maps"
	"math"
	"time"

	"pgtaskd/work/hold"
)

const (
	surveyTick  = 30 * time.Second
	surveyRest  = time.Second // between two surveys, at least
	surveyShare = 20          // they take one part in so many of the time
	awaitedPart = 5000        // tasks that are waited for, in a part of a survey
	doomedPart  = 100         // tasks that wait, in a part of it
	illMost     = 1000        // tasks that did not end well and are looked for
)

// surveys say when all that is waited for is looked at: when a term begins, where an end may have
// been missed, as of a row that somebody has deleted; where something has not ended well, or
// successors may wait for each other; and from time to time.
type surveys struct {
	wanted  bool
	ill     []int64 // tasks that did not end well since the last one began
	last    time.Time
	took    time.Duration
	current *survey // under way; nil: none is
}

// survey is how far one has come: first with who names what did not end well, then with what is
// waited for.
type survey struct {
	began   time.Time
	ill     []int64 // tasks that did not end well, while it is looked for who names them,
	waiting int64   // up to this task of those that wait
	through bool    // all that is waited for was read,
	upTo    int64   // else up to this task
	ids     []int64 // what is waited for and waits itself, in order,
	awaits  []int64 // and for what
}

// seek wants a survey that finds who names a task which did not end well.
func (v *surveys) seek(id int64) {
	if len(v.ill) < illMost {
		v.ill, v.wanted = append(v.ill, id), true
	}
}

// next is when a survey, or its next part, is due; any tells that something is known to be waited
// for.
func (v *surveys) next(any bool) time.Duration {
	switch {
	case v.current != nil:
		return 0
	case v.wanted:
		return max(surveyRest, surveyShare*v.took) - time.Since(v.last)
	case any:
		return max(surveyTick, surveyShare*v.took) - time.Since(v.last)
	}
	return math.MaxInt64
}

// due tells whether it is time for one, which it is also where nothing is known to be waited for.
func (v *surveys) due(any bool) bool {
	return v.next(any) <= 0 || time.Since(v.last) >= surveyTick
}

// survey does the next part of a survey.
func (s *Successors) survey(ctx context.Context) error {
	v := &s.surveys
	if v.current == nil {
		v.current = &survey{began: time.Now(), ill: v.ill, waiting: math.MinInt64, upTo: math.MinInt64}
		v.wanted, v.ill = false, nil
	}
	switch c := v.current; {
	case len(c.ill) > 0:
		return s.findDoomed(ctx, c)
	case !c.through:
		return s.findAwaited(ctx, c)
	default:
		v.current, v.last, v.took = nil, time.Now(), time.Since(c.began)
		return s.endCycles(ctx, cycles(c.ids, c.awaits))
	}
}

// findDoomed looks at some tasks that wait: those that name what did not end well are looked at.
func (s *Successors) findDoomed(ctx context.Context, c *survey) error {
	last, n, doomed, err := s.statements.doomed(ctx, c.ill, c.waiting, doomedPart)
	if err != nil {
		return err
	}
	for _, id := range doomed {
		s.Add(id)
	}
	if c.waiting = last; n < doomedPart {
		c.ill = nil
	}
	return nil
}

// findAwaited looks at some of what is waited for.
func (s *Successors) findAwaited(ctx context.Context, c *survey) error {
	some, err := s.statements.awaited(ctx, c.upTo, awaitedPart)
	if err != nil {
		return err
	}
	for _, t := range some {
		c.upTo = t.id
		if !s.awaited.has(t.id) {
			s.awaited.add(t.id)
		}
		switch {
		case t.ended: // its successors are looked at, even where too many are known
			s.awaited.ends(t.id)
		case t.awaits != nil && len(c.ids) < awaitedMost:
			c.ids, c.awaits = append(c.ids, t.id), append(c.awaits, *t.awaits)
		}
	}
	c.through = len(some) < awaitedPart
	return nil
}

// endCycles gives up tasks that wait for each other. Where there are many cycles it takes some, and
// the next survey finds the others.
func (s *Successors) endCycles(ctx context.Context, all [][]int64) error {
	given := map[int64]reason{}
	for _, cycle := range all {
		if len(given) >= hold.Batch {
			s.surveys.wanted = true
			break
		}
		maps.Copy(given, cyclic(cycle))
	}
	ended, left, err := s.statements.giveUp(ctx, given)
	s.Ended(ended)
	s.surveys.wanted = s.surveys.wanted || len(left) > 0
	return err
}
