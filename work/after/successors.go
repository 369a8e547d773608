package after

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/lane"
)

// mostKnown is the most newcomers, and the most awaited tasks, that are kept in memory. Scans and
// surveys find the others later.
const mostKnown = 1_000_000

// Successors has the tasks that wait for others, as far as they are known.
type Successors struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Ready   func() int                                      // number of known due tasks
	Free    func(group, remote []byte, successor lane.Rank) // called for a successor that is free and due

	newcomers map[int64]bool     // successors that were not resolved yet
	awaited   map[int64]progress // tasks that others wait for
	queue     []int64            // tasks that have ended, in this order; some may run again
	surveys   surveys
	served    time.Time // when successors of ended tasks were resolved last
}

// progress is how far an awaited task has come.
type progress int

const (
	notAwaited progress = iota // no task is known to wait for it
	isOpen                     // it has not ended, or it runs again
	hasEnded                   // its successors must be resolved
)

// Clear forgets everything. Call it when a term begins or ends, and before anything else.
func (s *Successors) Clear() {
	s.newcomers, s.awaited, s.queue = map[int64]bool{}, map[int64]progress{}, nil
	s.surveys, s.served = surveys{}, time.Time{}
}

// Add adds a successor that is new, or whose after was changed. It will be resolved.
func (s *Successors) Add(id int64) {
	if len(s.newcomers) < mostKnown {
		s.newcomers[id] = true
	}
}

// Over reports that a task has ended, or may have.
func (s *Successors) Over(id int64) {
	if s.awaited[id] != notAwaited {
		s.enqueue(id)
	}
}

// EndedAs reports the state in which a task has ended. If it did not end well, a survey gives up
// the tasks that name it, even if they wait for another task now.
func (s *Successors) EndedAs(id int64, state string) {
	v, ill := &s.surveys, state == "FAIL" || state == "GONE" || state == "STOP"
	if ill && len(s.awaited) > 0 && len(v.ill) < illMost {
		v.ill, v.wanted = append(v.ill, id), true
	}
}

// Doubt asks for a survey: others may have ended a task, or changed an after.
func (s *Successors) Doubt() { s.surveys.wanted = s.surveys.wanted || len(s.awaited) > 0 }

// QueueAny asks in a batch whether any task waits for another, and then wants a survey. A survey of
// its own for that would be one more transaction of an idle database.
func (s *Successors) QueueAny(batch *pgx.Batch) {
	if len(s.awaited) > 0 {
		return
	}
	s.Control.Queue(batch, "awaited", int64(math.MinInt64), 1).Query(func(rows pgx.Rows) error {
		s.surveys.wanted = s.surveys.wanted || rows.Next()
		rows.Close()
		return rows.Err()
	})
}

// await records that successors wait for a task, which has not ended.
func (s *Successors) await(id int64) {
	if s.awaited[id] != notAwaited || len(s.awaited) < mostKnown {
		s.awaited[id] = isOpen
	}
}

// enqueue records that an awaited task has ended.
func (s *Successors) enqueue(id int64) {
	if s.awaited[id] != hasEnded {
		s.awaited[id], s.queue = hasEnded, append(s.queue, id)
	}
}

const (
	servedMost = 100         // ended tasks whose successors are resolved together
	stockMost  = 1000        // with more due tasks, successors are resolved slowly, but not never,
	serveTick  = time.Second // once in this time: their lanes may have room
	dueMost    = 500_000     // with more due tasks, no successors are resolved
)

// Next returns the time until the next step; the greatest duration: never.
func (s *Successors) Next() time.Duration {
	if len(s.newcomers) > 0 {
		return 0
	}
	return min(s.nextServe(), s.nextSurvey())
}

// Step resolves successors of ended tasks, and new successors. From time to time it surveys all
// awaited tasks. Each step takes little time, even if after is long.
func (s *Successors) Step(ctx context.Context) error {
	if s.nextSurvey() <= 0 {
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

// nextServe returns the time until successors of ended tasks may be resolved.
func (s *Successors) nextServe() time.Duration {
	if len(s.queue) == 0 {
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

// serve resolves some successors of some ended tasks. An error ends the term, and all is forgotten.
func (s *Successors) serve(ctx context.Context) error {
	var some, all []int64
	for len(some) < servedMost && len(s.queue) > 0 {
		if id := s.queue[0]; s.awaited[id] == hasEnded {
			some = append(some, id)
		}
		s.queue = s.queue[1:]
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
		return err
	}
	seen, late, err := s.resolve(ctx, all)
	if err != nil {
		return err
	}
	for _, id := range some {
		left := slices.DeleteFunc(slices.Clone(of[id]), func(one int64) bool { return seen[one] })
		switch found := len(of[id]); {
		case s.awaited[id] != hasEnded: // resolve has found that the task runs again
		case len(left) == 0 && found < most: // it has no more successors
			delete(s.awaited, id)
		case len(left) == found && found > 0 && len(late) == 0: // all are locked: the next survey finds them
			delete(s.awaited, id)
			s.surveys.wanted = true
		default: // the others follow
			s.queue = append(s.queue, id)
		}
	}
	s.served = time.Now()
	return nil
}

// meet resolves some newcomers. Those for which there is no time stay.
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
