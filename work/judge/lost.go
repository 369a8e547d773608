package judge

import (
	"context"
	"maps"
	"slices"
	"time"

	"pgtaskd/work/run"
)

// tick is the time between two steps. A server that goes down ends all its sessions within it.
const tick = 200 * time.Millisecond

// Lost has runs of ours whose session is lost: nobody saw how they ended. It outlasts terms.
type Lost struct {
	*cutter
	runs map[int64]run.Outcome // by task id
}

// Add adds a run that was lost or killed.
func (l *Lost) Add(o run.Outcome) { l.runs[o.Task.Row.ID] = o }

// fate is what we know of a lost run.
type fate int

const (
	unknown fate = iota // it will commit nothing any more: its row is judged
	lasts               // its backend may still exist
	failed              // the server goes on: a person or a time limit has terminated the session
	unbegun             // it was queued on the server and has not run
)

// fateOf decides the fate of a run. alive: the backend exists. began is the start of the term.
func fateOf(o *run.Outcome, alive bool, began, now time.Time) fate {
	killed := o.Kind == run.Killed && !o.Stop.Before(began) // otherwise the server went down with it
	switch {
	case alive && o.Task.Row.Remote == "":
		return lasts
	case killed && now.Sub(o.Stop) < tick: // the server may be going down
		return lasts
	case killed:
		return failed
	case o.Queued:
		return unbegun
	}
	return unknown
}

// judge handles the runs whose fate is known. The others wait for the next call.
func (l *Lost) judge(ctx context.Context) error {
	if len(l.runs) == 0 {
		return nil
	}
	living, err := l.alive(ctx)
	if err != nil {
		return err
	}
	var queued []*run.Task
	gone := map[int64]run.Outcome{}
	for id, o := range l.runs {
		switch fateOf(&o, living[o.PID], l.began, l.Runs.Clock.Now()) {
		case failed:
			delete(l.runs, id)
			l.Runs.Lanes.Ended(o.Task, o.Stop)
			o.Kind = run.Finished
			l.Write(o)
		case unbegun:
			delete(l.runs, id)
			queued = append(queued, o.Task)
		case unknown:
			if o.Start.IsZero() {
				o.Start = o.Stop.Add(-tick) // the run was about to begin
			}
			gone[id] = o
		}
	}
	l.requeue(queued)
	return l.judgeRows(ctx, gone)
}

// requeue puts tasks that have not run back into their lanes.
func (l *Lost) requeue(tasks []*run.Task) {
	for _, t := range tasks {
		l.Tries.Once(t.Row.ID) // the next run is marked first: this task may be what has cost us the session
		known := l.Tasks.Known(t)
		known.Again, known.Ending = l.Tries.Runs(t.Row.ID), false
	}
	for _, t := range l.Runs.Lanes.Rejoin(tasks, nil) {
		l.Runs.Lanes.Ended(t, time.Time{})
		l.Write(run.Outcome{Task: t, Kind: run.Released})
	}
}

// judgeRows judges the rows of runs whose backends are gone.
func (l *Lost) judgeRows(ctx context.Context, gone map[int64]run.Outcome) error {
	_, left, err := l.cut(ctx, slices.Sorted(maps.Keys(gone)), gone)
	if err != nil {
		return err
	}
	for id, o := range gone {
		if slices.Contains(left, id) {
			continue
		}
		delete(l.runs, id)
		l.Runs.Lanes.Ended(o.Task, l.Runs.Clock.Now())
		l.Over(o)
		l.Changes.Want()
	}
	return nil
}

// alive returns the backends that still exist.
func (l *Lost) alive(ctx context.Context) (living map[int32]bool, err error) {
	var pids []int64
	var since []time.Time
	for _, o := range l.runs {
		pids, since = append(pids, int64(o.PID)), append(since, o.Since)
	}
	living = map[int32]bool{}
	var pid int32
	err = l.Control.Each(ctx, "alive", []any{pids, since}, []any{&pid, nil}, func() error {
		living[pid] = true
		return nil
	})
	return living, err
}
