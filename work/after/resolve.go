package after

import (
	"context"
	"fmt"
	"slices"

	"pgtaskd/work/lane"
)

// resolve looks at what some successors are to run after: they wait for one that is still to end, or
// are free, or are given up. It returns those whose rows say so now, and those for which there was
// no time.
func (s *Successors) resolve(ctx context.Context, ids []int64) (seen map[int64]bool, late []int64, err error) {
	seen = map[int64]bool{}
	ids = slices.DeleteFunc(slices.Clone(ids), s.Holds.Refuses)
	if len(ids) == 0 {
		return seen, nil, nil
	}
	given := map[int64]reason{}
	all, err := s.statements.resolve(ctx, ids)
	for _, t := range all {
		switch {
		case t.Late:
			late = append(late, t.ID)
		case t.Ill != nil:
			version := int32(*t.Version)
			why := fmt.Sprintf("ERROR:  task %d, after which it was to run, has ended as %s", *t.Ill, *t.State)
			given[t.ID] = reason{why: why, version: &version}
		default:
			seen[t.ID] = true
			s.free(t)
		}
	}
	if err != nil || len(given) == 0 {
		return seen, late, err
	}
	ended, left, err := s.statements.giveUp(ctx, given)
	s.Ended(ended)
	for _, c := range ended {
		seen[c.ID] = true
	}
	return seen, append(late, left...), err
}

// free takes note of what a successor waits for. If that is nothing it may start.
func (s *Successors) free(t resolved) {
	switch {
	case t.Awaits != nil:
		s.awaited.add(*t.Awaits)
		s.Doubt() // it may have closed a cycle
	case !t.Ready: // it is planned for later, or paused
		s.Want()
	default:
		s.Free(t.Group, t.Remote, lane.Rank{ID: t.ID, Max: t.Max, Priority: t.Priority})
	}
}
