package after

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"pgtaskd/work/hold"
)

const (
	surveyTick  = time.Minute
	surveyRest  = time.Second // the shortest time between two surveys
	surveyShare = 20          // surveys take one part in surveyShare of the time
	awaitedPart = 5000        // awaited tasks in one part of a survey
	doomedPart  = 100         // waiting tasks in one part of a survey
	illMost     = 1000        // tasks that did not end well, in one survey
)

// surveys says when to survey all awaited tasks: when a term begins; when an end may have been
// missed, for example of a deleted row; when a task did not end well; when successors may wait for
// each other; and from time to time.
type surveys struct {
	wanted  bool
	ill     []int64 // tasks that did not end well since the last survey began
	last    time.Time
	took    time.Duration
	current *survey // under way; nil: none
}

// survey is the progress of one survey. It first finds the successors of tasks that did not end
// well, then all awaited tasks.
type survey struct {
	began   time.Time
	ill     []int64 // tasks that did not end well; nil: all successors that name one are found
	waiting int64   // position of that search: the last successor that was looked at
	through bool    // all awaited tasks were read
	upTo    int64   // the last awaited task that was read
	ids     []int64 // awaited tasks that wait themselves, in order
	awaits  []int64 // the tasks for which these wait
}

// nextSurvey returns the time until the next survey, or its next part. If no task is known to be
// awaited, no survey wakes the loop.
func (s *Successors) nextSurvey() time.Duration {
	v := &s.surveys
	switch {
	case v.current != nil:
		return 0
	case v.wanted:
		return max(surveyRest, surveyShare*v.took) - time.Since(v.last)
	case len(s.awaited) > 0:
		return max(surveyTick, surveyShare*v.took) - time.Since(v.last)
	}
	return math.MaxInt64
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

// findDoomed looks at some waiting tasks, and adds those that name a task which did not end well.
func (s *Successors) findDoomed(ctx context.Context, c *survey) error {
	var n int
	var doomed []int64
	if err := s.Control.Row(ctx, "doomed", []any{c.ill, c.waiting, doomedPart}, &c.waiting, &n, &doomed); err != nil {
		return err
	}
	for _, id := range doomed {
		s.Add(id)
	}
	if n < doomedPart {
		c.ill = nil
	}
	return nil
}

// findAwaited reads some awaited tasks.
func (s *Successors) findAwaited(ctx context.Context, c *survey) error {
	var id int64
	var ended bool
	var awaits *int64 // the task for which this one waits itself
	n := 0
	err := s.Control.Each(ctx, "awaited", []any{c.upTo, awaitedPart}, []any{&id, &ended, &awaits}, func() error {
		n++
		c.upTo = id
		if ended { // its successors are resolved, even if mostKnown is reached
			s.enqueue(id)
			return nil
		}
		if s.awaited[id] != hasEnded {
			s.await(id)
		}
		if awaits != nil && len(c.ids) < mostKnown {
			c.ids, c.awaits = append(c.ids, id), append(c.awaits, *awaits)
		}
		return nil
	})
	c.through = err == nil && n < awaitedPart
	return err
}

// cyclic is the error of a task that is given up because of a cycle.
const cyclic = "ERROR:  tasks wait for each other in a cycle\n" +
	"DETAIL:  Task %d waits for task %d, and so on, through %d tasks in all."

// endCycles gives up tasks that wait for each other. If there are many cycles, it ends some, and
// the next survey finds the others.
func (s *Successors) endCycles(ctx context.Context, all [][]int64) error {
	given := map[int64]reason{}
	for _, cycle := range all {
		if len(given) >= hold.Batch {
			s.surveys.wanted = true
			break
		}
		for i, id := range cycle {
			next := cycle[(i+1)%len(cycle)]
			given[id] = reason{why: fmt.Sprintf(cyclic, id, next, len(cycle)), awaits: &next}
		}
	}
	_, left, err := s.giveUp(ctx, given)
	s.surveys.wanted = s.surveys.wanted || len(left) > 0
	return err
}

// cycles returns the tasks that wait for each other. ids are in order; ids[i] waits for awaits[i].
func cycles(ids, awaits []int64) (all [][]int64) {
	walks := make([]int, len(ids)) // the walk that first visited each task, counted from 1
	for i := range ids {
		j, found := i, true
		for found && walks[j] == 0 {
			walks[j] = i + 1
			j, found = slices.BinarySearch(ids, awaits[j])
		}
		if !found || walks[j] != i+1 {
			continue
		}
		var cycle []int64
		for first := j; len(cycle) == 0 || j != first; j, _ = slices.BinarySearch(ids, awaits[j]) {
			cycle = append(cycle, ids[j])
		}
		all = append(all, cycle)
	}
	return all
}
