package judge

import (
	"context"
	"sync"
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/lane"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// Config is what a Judge works with, and what it asks of the loop.
type Config struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Tries   *hold.Tries
	Log     *target.Log
	Tasks   inflight.Tasks
	Lanes   *lane.Lanes[*run.Task]
	Clock   *run.Clock
	Panics  *Panics
	Prefix  string         // begins the application_name of the target's sessions
	PIDs    func() []int32 // sessions of ours
	Place   func() *string // where our transactions are, as xact_at says; nil: not known

	Partial func() bool            // scans have not shown all rows that are due or under way
	Pending func() bool            // rows that have become due are still to be read
	Sleep   func() time.Duration   // between two looks of Watch, where nothing tells of a change
	Ended   func([]change.Changed) // rows show their ends, or wait again
	Over    func(run.Outcome)      // a task of ours is over: its row was judged
	Write   func(run.Outcome)      // an end of a task of ours is to be written
	Want    func()                 // something may have become due
}

// cutter judges rows of runs that were cut off.
type cutter struct {
	Config
	began time.Time // the term, by the server's clock
}

// cut judges tasks that were cut off, or were to be stopped, if it is certain that they do not run any
// more: of those in lost, the backends are known to be gone. It had no time for those in left.
func (c *cutter) cut(
	ctx context.Context, ids []int64, lost map[int64]run.Outcome,
) (done map[int64]bool, left []int64, err error) {
	done = map[int64]bool{}
	if len(ids) == 0 {
		return done, nil, nil
	}
	left, err = c.Changes.EachWithWords(ctx, ids, func(ids []int64, mute bool) error {
		gone, starts, versions := make([]int64, len(ids)), make([]*time.Time, len(ids)), make([]int32, len(ids))
		for i, id := range ids {
			if o, known := lost[id]; known {
				gone[i], starts[i], versions[i] = int64(o.PID), &o.Start, int32(o.Task.Row.Version)
			}
		}
		some, err := c.Changes.Tasks(ctx, "cut", ids, gone, starts, versions, c.Panics.all(), mute, c.PIDs(), c.Place())
		if err != nil {
			return err
		}
		for _, one := range some {
			done[one.ID] = true
		}
		c.Ended(some)
		return nil
	})
	if err == nil {
		for id := range done {
			c.Panics.forget(id)
		}
	}
	if len(done) > 0 {
		c.Log.Warn().Int("tasks", len(done)).Msg("found interrupted tasks")
	}
	return done, left, err
}

// Panics are the ids of tasks at which runners of this controller have panicked: they are not run
// again. They outlast the loop that a panic ends. Any goroutine may use them.
type Panics struct{ ids sync.Map }

// Blame takes note of a task.
func (p *Panics) Blame(id int64) { p.ids.Store(id, true) }

// Clear forgets all: another controller leads, and judges their rows.
func (p *Panics) Clear() { p.ids.Clear() }

func (p *Panics) has(id int64) bool {
	_, is := p.ids.Load(id)
	return is
}

func (p *Panics) forget(id int64) { p.ids.Delete(id) }

// all are never nil: a statement takes them.
func (p *Panics) all() []int64 {
	ids := []int64{}
	p.ids.Range(func(id, _ any) bool {
		ids = append(ids, id.(int64))
		return true
	})
	return ids
}
