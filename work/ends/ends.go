package ends

import (
	"context"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// Config is what Ends work with.
type Config struct {
	Control *control.Control
	Changes *change.Changer
	Holds   *hold.Holds
	Tries   *hold.Tries
	Tasks   inflight.Tasks
	Log     *target.Log

	Later  func(do func())            // has the loop do something; any goroutine may call it
	Want   func()                     // something may have become due
	Full   func() bool                // the server's queue of notifications is, by our own doing or others'
	Drains func() bool                // a drain is under way
	Ended  func(e *End, state string) // the row of a task of ours shows its end, or that it waits again
	Counts func(all []change.Changed) // rows have changed without a run of ours
	Over   func(o *run.Outcome)       // the task is forgotten
	Waits  func(t *run.Task)          // a task that has not begun waits again
	Lost   func(o run.Outcome)        // what became of a task is to be found out
}

// Ends are the ends of tasks that are not written yet.
type Ends struct {
	Config
	queue   queue
	stay    []pool.Backend // have not obeyed, and are to be ended
	crashed *time.Time     // when the server has crashed last, as far as it tells
	Deletes *Deletes
}

// New returns one without ends.
func New(c Config) *Ends {
	return &Ends{Config: c, queue: queue{drains: c.Drains}, Deletes: &Deletes{Control: c.Control, Changes: c.Changes}}
}

// Seen takes down what was seen of a task.
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

// Add has the end of a task written that the judge has found out.
func (s *Ends) Add(o run.Outcome) { s.add(s.endOf(o)) }

// add queues an end to be written, unless the judge must find it out first, or the row need not
// show anything.
func (s *Ends) add(e End) {
	switch {
	case e.Kind == run.Lost, e.Kind == run.Killed:
		s.Lost(e.Outcome)
	case e.Kind == run.Released && !e.Task.Marks.Load() && e.Delay == 0:
		s.waitsAgain(&e)
	case s.forgotten(&e):
		s.Forget(&e)
		s.Want()
	default:
		s.queue.add(e)
	}
}

// Drop forgets a task whose row was judged.
func (s *Ends) Drop(o run.Outcome) {
	e := s.endOf(o)
	s.Forget(&e)
}

// endOf is what follows from an outcome of our task.
func (s *Ends) endOf(o run.Outcome) End {
	e := End{Outcome: o, Known: s.Tasks.Known(o.Task)}
	e.Known.Ending = true
	return e
}

// DropForgotten drops the ends that the server may have forgotten when it crashed; nil: it has not
// crashed.
func (s *Ends) DropForgotten(crashed *time.Time) {
	s.crashed = crashed
	for _, e := range s.queue.takeAll() {
		s.add(e)
	}
}

// forgotten tells whether the server may have forgotten the end, or the effects of the run, in its
// last crash: another version of the row may have the number that we have read, and effects whose
// commit did not wait for the disk are lost. The task still waits, or the next scan finds it cut
// off.
func (s *Ends) forgotten(e *End) bool {
	return s.crashed != nil && e.Kind == run.Finished && e.Stop.Before(*s.crashed) &&
		(!e.Task.Marks.Load() || s.Control.Facts().Lazy && e.Task.Row.Remote == "")
}

// Forget forgets a task whose end is written, or that is not ours any more.
func (s *Ends) Forget(e *End) {
	e.release()
	delete(s.Tasks, e.Task.Row.ID)
	s.Over(&e.Outcome)
}

// waitsAgain puts a task back into its lane that has not begun and whose row still says PLAN.
func (s *Ends) waitsAgain(e *End) {
	s.Forget(e)
	s.Waits(e.Task)
}

// Next is when an end is to be written, or tried again.
func (s *Ends) Next() time.Duration { return s.queue.rest() }

// Len is how many are to be written next.
func (s *Ends) Len() int { return len(s.queue.fresh) }

// Heavy tells that so many ends wait for somebody else that nothing more is to start.
func (s *Ends) Heavy() bool { return s.queue.size > asideMost }

// turnsInto decides what becomes of a run that is rolled back because its row was changed or
// something was in the way: the task runs again if that may help.
func (s *Ends) turnsInto(e *End) {
	id := e.Task.Row.ID
	switch {
	case e.Fault == nil: // the row has changed, and may again: it is marked before it starts again
		s.Tries.Again(id)
		e.Kind = run.Released
	case !e.Exactly && !e.Task.Row.Rerun:
		e.Kind = run.Finished
	case e.Fault.QueueIsFull() && (s.Full() || s.Tries.Runs(id) == 0): // else by what the task itself notifies
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

// tellLess logs what the table has refused of an end, once for each end.
func (s *Ends) tellLess(e *End, err error) {
	if e.stage == short {
		s.Log.Warn().Err(err).Int64("id", e.Task.Row.ID).Msg("the table refuses the end of a task; written with less")
	}
}

// Deletes are tasks that have nothing to show, of which some ask to be deleted.
type Deletes struct {
	Control *control.Control
	Changes *change.Changer

	next   []int64   // to be deleted now
	locked []int64   // tried again once a second
	swept  time.Time // when that was done
}

const sweepTick = time.Second

// Add has a row deleted by the next Step.
func (d *Deletes) Add(id int64) { d.next = append(d.next, id) }

// Later has a row deleted within a second.
func (d *Deletes) Later(id int64) { d.locked = append(d.locked, id) }

// Next is when those that were locked are tried again.
func (d *Deletes) Next() time.Duration {
	if len(d.locked)+len(d.next) > 0 {
		return sweepTick - time.Since(d.swept)
	}
	return hold.Never
}

// Sweep deletes, once a second, what was locked when it should have been.
func (d *Deletes) Sweep(ctx context.Context) error {
	d.swept = time.Now()
	d.next = append(d.next, d.locked...)
	d.locked = nil
	return d.Step(ctx)
}

// Step deletes what is to be deleted now.
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
