package judge

import (
	"context"
	"maps"
	"slices"
	"time"

	"pgtaskd/work/run"
)

// tick is the time between two looks. Within it, a server that goes down ends all its sessions.
const tick = 200 * time.Millisecond

// Lost are runs of ours whose session is lost: nobody saw their end. They outlast terms.
type Lost struct {
	*cutter
	runs map[int64]run.Outcome // by the ids of their tasks
}

// Add takes note of a run that was lost or killed.
func (l *Lost) Add(o run.Outcome) { l.runs[o.Task.Row.ID] = o }

// fate is what is known of a lost run.
type fate int

const (
	unknown fate = iota // what it has not committed never will be: its row is judged
	lasts               // its backend may be there still
	failed              // the server goes on: a person has terminated the session, or a time limit
	unbegun             // it was queued with the server, and has not run
)

// fateOf decides it. alive tells that the backend is there, began is the start of the term.
func fateOf(o *run.Outcome, alive bool, began, now time.Time) fate {
	killed := o.Kind == run.Killed && !o.Stop.Before(began) // else it went with the server
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

// judge waits until the backends are gone, and sees to the runs then.
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
		switch fateOf(&o, living[o.PID], l.began, l.Clock.Now()) {
		case failed:
			delete(l.runs, id)
			l.Lanes.Ended(o.Task, o.Stop)
			o.Kind = run.Finished
			l.Write(o)
		case unbegun:
			delete(l.runs, id)
			queued = append(queued, o.Task)
		case unknown:
			if o.Start.IsZero() {
				o.Start = o.Stop.Add(-tick) // it was about to begin
			}
			gone[id] = o
		}
	}
	l.requeue(queued)
	return l.judgeRows(ctx, gone)
}

// requeue has tasks wait again that have not run.
func (l *Lost) requeue(tasks []*run.Task) {
	for _, t := range tasks {
		l.Tries.Once(t.Row.ID) // so that it shows WORK first, should it be what has taken the session
		known := l.Tasks.Known(t)
		known.Again, known.Ending = l.Tries.Runs(t.Row.ID), false
	}
	for _, t := range l.Lanes.Rejoin(tasks, nil) {
		l.Lanes.Ended(t, time.Time{})
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
		l.Lanes.Ended(o.Task, l.Clock.Now())
		l.Over(o)
		l.Want()
	}
	return nil
}

// alive are the backends that are still there.
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
