package work

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"pgtaskd/work/hold"
)

// A look at all that is waited for: when a term begins, where an end may have been missed, such as
// a row that somebody has deleted; where something has not ended well, or successors may wait for
// each other; and from time to time.

const (
	awaitedTick  = 30 * time.Second
	awaitedRest  = time.Second // between two looks, at least; and so long that they take scanShare of the time
	awaitedChunk = 5000        // tasks that are waited for, in a part of a look
	illChunk     = 100         // tasks that wait, in a part of it
	illMost      = 1000        // tasks that did not end well and are looked for
)

// awaitedSurvey is what is known of such a look.
type awaitedSurvey struct {
	wanted  bool
	active  bool
	through bool    // all that is waited for was read
	ill     []int64 // tasks that did not end well since the last one began
	sought  []int64 // those of which the look under way looks who waits for them,
	waiting int64   // behind this task
	behind  int64   // up to this task it has come with what is waited for
	began   time.Time
	ended   time.Time // the last one
	took    time.Duration
	ids     []int64 // what is waited for and waits itself, in order,
	awaits  []int64 // and for what
}

// nextAwaited is when to look.
func (l *loop) nextAwaited() time.Duration {
	s := &l.successors.survey
	switch {
	case s.active:
		return 0
	case s.wanted:
		return max(awaitedRest, scanShare*s.took) - time.Since(s.ended)
	case len(l.successors.awaited) > 0:
		return max(awaitedTick, scanShare*s.took) - time.Since(s.ended)
	}
	return never
}

// awaitedDue tells whether it is time, which it is where nothing was known to be waited for, too.
func (l *loop) awaitedDue() bool {
	return l.nextAwaited() <= 0 || time.Since(l.successors.survey.ended) >= awaitedTick
}

// surveyAwaited looks at a part of what is waited for.
func (l *loop) surveyAwaited(ctx context.Context) error {
	s := &l.successors.survey
	if !s.active {
		*s = awaitedSurvey{
			active: true, sought: s.ill, waiting: math.MinInt64, behind: math.MinInt64,
			began: time.Now(), ended: s.ended, took: s.took,
		}
	}
	switch {
	case len(s.sought) > 0:
		return l.readDoomed(ctx)
	case !s.through:
		return l.readAwaited(ctx)
	}
	s.active, s.through, s.ended, s.took = false, false, time.Now(), time.Since(s.began)
	given := map[int64]givenUp{}
	for _, cycle := range cycles(s.ids, s.awaits) {
		if len(given) >= hold.Batch {
			s.wanted = true // the next look finds the others
			break
		}
		for i, id := range cycle {
			next := cycle[(i+1)%len(cycle)]
			why := "ERROR:  tasks wait for each other in a cycle\n" +
				"DETAIL:  Task %d waits for task %d, and so on, through %d tasks in all."
			given[id] = givenUp{why: fmt.Sprintf(why, id, next, len(cycle)), awaits: &next}
		}
	}
	s.ids, s.awaits = nil, nil
	left, err := l.giveUp(ctx, given, map[int64]bool{})
	s.wanted = s.wanted || len(left) > 0
	return err
}

// readAwaited reads the next part of what is waited for.
func (l *loop) readAwaited(ctx context.Context) error {
	f := &l.successors
	s := &f.survey
	n := 0
	var ended bool
	var awaits *int64
	if err := l.control.Each(ctx, "awaited", []any{s.behind, awaitedChunk}, []any{&s.behind, &ended, &awaits}, func() error {
		n++
		if _, known := f.awaited[s.behind]; !known {
			f.await(s.behind)
		}
		switch {
		case ended: // its successors are looked at, even where too many are known
			f.ends(s.behind)
		case awaits != nil && len(s.ids) < awaitedMost:
			s.ids, s.awaits = append(s.ids, s.behind), append(s.awaits, *awaits)
		}
		return nil
	}); err != nil {
		return err
	}
	s.through = n < awaitedChunk
	return nil
}

// readDoomed finds, of some tasks that wait, those that name what did not end well.
func (l *loop) readDoomed(ctx context.Context) error {
	s := &l.successors.survey
	var n int
	var doomed []int64
	if err := l.control.Row(ctx, "doomed", []any{s.sought, s.waiting, illChunk}, &s.waiting, &n, &doomed); err != nil {
		return err
	}
	for _, id := range doomed {
		l.successors.fresh.add(id)
	}
	if n < illChunk {
		s.sought = nil
	}
	return nil
}

// cycles are the circles in which tasks wait for each other. ids are in order, and each waits for
// the one in its place in awaits.
func cycles(ids, awaits []int64) (all [][]int64) {
	walks := make([]int, len(ids)) // by which each was visited first, counted from 1
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

// givenUp is why a successor is given up, and what it must still wait for then, or which version of
// its row was read.
type givenUp struct {
	why     string
	awaits  *int64
	version *int32
}

// giveUp ends successors that are not to run, and adds those of which it is written to done. It
// returns those that it has not come to.
func (l *loop) giveUp(ctx context.Context, given map[int64]givenUp, done map[int64]bool) (left []int64, err error) {
	ids := make([]int64, 0, len(given))
	for id := range given {
		ids = append(ids, id)
	}
	return l.changes.EachWithWords(ctx, ids, func(ctx context.Context, ids []int64, mute bool) error {
		errors, awaits, versions := make([]string, len(ids)), make([]*int64, len(ids)), make([]*int32, len(ids))
		for i, id := range ids {
			errors[i], awaits[i], versions[i] = given[id].why, given[id].awaits, given[id].version
		}
		some, err := l.changes.Tasks(ctx, "forsaken", ids, errors, awaits, versions, mute)
		if err != nil {
			return err
		}
		for _, c := range some {
			done[c.ID] = true
		}
		l.counted(some)
		return nil
	})
}
