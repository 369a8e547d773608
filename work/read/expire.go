package read

import (
	"context"
	"math"
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

const never = time.Duration(math.MaxInt64)

// expiring is a task whose active has passed since its plan.
type expiring struct {
	id     int64
	group  string // what tells it from others, as lane.KeyOf takes it
	active time.Duration
}

// Expire gives up tasks that have not started in time.
type Expire struct {
	Changes *change.Changer
	Groups  *Groups
	Stats   *target.Stats
	Counts  func([]change.Changed) // takes note of those that were given up

	overdue []int64
}

// Len is how many are to be given up.
func (e *Expire) Len() int { return len(e.overdue) }

// Clear forgets them: a look at all that is due finds them again.
func (e *Expire) Clear() { e.overdue = nil }

// Next is when there is something to do.
func (e *Expire) Next() time.Duration {
	if len(e.overdue) == 0 {
		return never
	}
	return 0
}

// found takes down those of the tasks that no pause has held back. It reads the limits of groups first,
// since a task may be newer than the known ones; if it cannot, the next look at all that is due finds
// the tasks again.
func (e *Expire) found(ctx context.Context, some []expiring) error {
	if len(some) == 0 {
		return nil
	}
	if known, err := e.Groups.refresh(ctx); !known || err != nil {
		return err
	}
	for _, t := range some {
		if !e.Groups.outlives(t.group, t.active) {
			e.overdue = append(e.overdue, t.id)
		}
	}
	return nil
}

// Step gives up some of them: there may be a million, and much may follow on each.
func (e *Expire) Step(ctx context.Context) error {
	for began := time.Now(); len(e.overdue) > 0 && time.Since(began) < hold.Turn; {
		some := e.overdue[:min(len(e.overdue), hold.Batch)]
		left, err := e.Changes.EachWithWords(ctx, some, func(some []int64, mute bool) error {
			gone, err := e.Changes.Tasks(ctx, "expire", some, mute)
			if err == nil {
				e.Counts(gone)
				e.Stats.Skips(target.Expired, change.Repeating(gone))
				e.Changes.PutOffOthers(some, gone)
			}
			return err
		})
		if e.overdue = append(e.overdue[len(some):], left...); err != nil {
			return err
		}
	}
	return nil
}
