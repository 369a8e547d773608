package ends

import (
	"context"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// Config has everything that Ends need.
type Config struct {
	change.Rows
	Stats *target.Stats
	Runs  *run.Dispatcher

	Later func(do func())            // makes the loop call do; any goroutine may call it
	Full  func() bool                // whether the server's queue of notifications is full
	Ended func(e *End, state string) // the row of a task of ours shows its end, or PLAN
	Over  func(id int64)             // the task is forgotten now
	Lost  func(o run.Outcome)        // the judge has to find out how the task ended
}

// Ends holds the ends of tasks until they are written.
type Ends struct {
	Config
	queue   queue
	stay    []pool.Backend // backends that did not obey a cancel and must be ended
	crashed *time.Time     // the server's last crash; nil: none is known
	Deletes *Deletes
}

// New returns Ends without an end.
func New(c Config) *Ends {
	return &Ends{Config: c, Deletes: &Deletes{Control: c.Control, Changes: c.Changes}}
}

// Drain records that a drain is under way.
func (s *Ends) Drain() { s.queue.drains = true }

// Seen takes the outcome of a task, and queues an end for it.
func (s *Ends) Seen(o run.Outcome) {
	e := s.endOf(o)
	if e.Stays {
		s.stay = append(s.stay, pool.Backend{PID: e.PID, Since: e.Since})
	}
	if e.Kind == run.Refused {
		s.turnsInto(&e)
	}
	if e.Less != nil {
		e.stage = short
		s.tellLess(&e, e.Less)
	}
	s.add(e)
}

// Add queues the end of a task that the judge has found out.
func (s *Ends) Add(o run.Outcome) { s.add(s.endOf(o)) }

// add queues an end, unless the judge must find it out first, or the row needs no change.
func (s *Ends) add(e End) {
	switch {
	case e.Kind == run.Lost, e.Kind == run.Killed:
		s.Lost(e.Outcome)
	case e.Kind == run.Released && !e.Task.Marks.Load() && e.Delay == 0:
		s.waitsAgain(&e)
	case s.forgotten(&e):
		s.Forget(&e)
		s.Changes.Want()
	default:
		s.queue.add(e)
	}
}

// Drop forgets a task whose row the judge has written.
func (s *Ends) Drop(o run.Outcome) {
	e := s.endOf(o)
	s.Forget(&e)
}

// endOf makes an end of the outcome of our task.
func (s *Ends) endOf(o run.Outcome) End {
	e := End{Outcome: o, Known: s.Tasks.Known(o.Task)}
	e.Known.Ending = true
	return e
}

// DropForgotten drops the ends that the server may have lost in this crash; nil: no crash.
func (s *Ends) DropForgotten(crashed *time.Time) {
	s.crashed = crashed
	for _, e := range s.queue.takeAll() {
		s.add(e)
	}
}

// forgotten reports whether the server may have lost the task's row version or the run's effects in
// its last crash: another version of the row may have the number that we have read, and effects
// whose commit did not wait for the disk may be lost. The task then still waits, or the next scan
// finds it cut off.
func (s *Ends) forgotten(e *End) bool {
	return s.crashed != nil && e.Kind == run.Finished && e.Stop.Before(*s.crashed) &&
		(!e.Task.Marks.Load() || s.Control.Facts().Lazy && e.Task.Row.Remote == "")
}

// Forget forgets a task whose end is written, or whose row is not ours any more.
func (s *Ends) Forget(e *End) {
	e.release()
	delete(s.Tasks, e.Task.Row.ID)
	s.Over(e.Task.Row.ID)
}

// waitsAgain puts a task back into its lane. It has not begun, and its row still says PLAN.
func (s *Ends) waitsAgain(e *End) {
	s.Forget(e)
	s.Runs.Lanes.Enter(e.Task)
}

// Next returns how long there is nothing to write.
func (s *Ends) Next() time.Duration { return s.queue.rest() }

// Len returns the number of new ends, without those that are tried again.
func (s *Ends) Len() int { return len(s.queue.fresh) }

// Heavy reports whether so many ends wait for others that no more tasks may start.
func (s *Ends) Heavy() bool { return s.queue.size > asideMost }

// turnsInto decides about a run that was rolled back because its row was changed or something was
// in the way: the task runs again if that may help.
func (s *Ends) turnsInto(e *End) {
	id := e.Task.Row.ID
	switch {
	case e.Fault == nil: // the row has changed, and may again: the task is marked before it starts again
		s.Tries.Again(id)
		e.Kind = run.Released
	case !e.Exactly && !e.Task.Row.Rerun:
		e.Kind = run.Finished
	case e.Fault.QueueIsFull() && (s.Full() || s.Tries.Runs(id) == 0): // else the task's own do that
		if s.Full() {
			s.Changes.TellQueueFull(e.Fault.Text)
		}
		s.Tries.Again(id)
		e.Kind, e.Delay = run.Released, hold.QueueFull.After(s.Tries.Runs(id))
	case run.InTheWay(e.Fault) && s.Tries.Crossed(id) < hold.CrossedMost:
		e.Kind, e.crossed, e.Delay = run.Released, true, s.Tries.Crosses(id)
	default:
		e.Kind = run.Finished
	}
}

// tellLess logs once for each end that the table has refused it.
func (s *Ends) tellLess(e *End, err error) {
	if e.stage == short {
		s.Log.Warn().Err(err).Int64("id", e.Task.Row.ID).Msg("the table refuses the end of a task; written with less")
	}
}

// Deletes deletes the rows of tasks that have nothing to show and ask for that.
type Deletes struct {
	Control *control.Control
	Changes *change.Changer

	next   []int64   // deleted by the next Step
	locked []int64   // locked by others; tried again once a second
	swept  time.Time // when locked was last tried
}

const sweepTick = time.Second

// Add has the next Step delete a row.
func (d *Deletes) Add(id int64) { d.next = append(d.next, id) }

// Later has a row deleted within a second.
func (d *Deletes) Later(id int64) { d.locked = append(d.locked, id) }

// Next returns how long Sweep may wait.
func (d *Deletes) Next() time.Duration {
	if len(d.locked)+len(d.next) > 0 {
		return sweepTick - time.Since(d.swept)
	}
	return hold.Never
}

// Sweep tries again to delete the rows that were locked. It is called once a second.
func (d *Deletes) Sweep(ctx context.Context) error {
	d.swept = time.Now()
	d.next = append(d.next, d.locked...)
	d.locked = nil
	return d.Step(ctx)
}

// Step deletes the rows that Add has queued.
func (d *Deletes) Step(ctx context.Context) error {
	for len(d.next) > 0 {
		some := d.next[:min(len(d.next), hold.Batch)]
		if err := d.Changes.Each(some, func(ids []int64) error { return d.delete(ctx, ids) }); err != nil {
			return err
		}
		d.next = d.next[len(some):]
	}
	return nil
}

func (d *Deletes) delete(ctx context.Context, ids []int64) error {
	locked, err := d.Control.IDs(ctx, "delete", ids)
	d.locked = append(d.locked, locked...)
	if len(ids) == 1 && fault.Of(err).OfRow() && !fault.Of(err).Passing() {
		d.Changes.Stays(err, ids[0])
		return nil
	}
	return err
}
