package judge

import (
	"context"
	"slices"
	"time"

	"pgtaskd/work/run"
)

// tick is how long it takes from one look to the next. What a server that goes down does to its sessions
// shows within it.
const tick = 200 * time.Millisecond

// Lost are runs of ours whose session is lost: nobody saw their end. They outlast terms.
type Lost struct {
	*cutter
	runs map[int64]run.Outcome // by the ids of their tasks
}

// Add takes note of a run that was lost or killed.
func (l *Lost) Add(o run.Outcome) { l.runs[o.Task.Row.ID] = o }

// judge waits until the backends are gone; then what is not committed never will be.
func (l *Lost) judge(ctx context.Context) error {
	if len(l.runs) == 0 {
		return nil
	}
	living, err := l.alive(ctx)
	if err != nil {
		return err
	}
	var ids []int64
	var queued []*run.Task
	begun := map[int64]run.Outcome{}
	for id, o := range l.runs {
		switch killed := o.Kind == run.Killed && !o.Stop.Before(l.began); { // else it went with the server
		case o.Task.Row.Remote == "" && living[o.PID], killed && l.Clock.Now().Sub(o.Stop) < tick: // the server may be going down
		case killed: // it goes on: a person has terminated the session, or a time limit
			delete(l.runs, id)
			l.Lanes.Ended(o.Task, o.Stop)
			o.Kind = run.Finished
			l.Write(o)
		case o.Aboard:
			delete(l.runs, id)
			l.Tries.Once(id) // so that it shows WORK first, should it be what has taken the session
			known := l.Tasks.Known(o.Task)
			known.Again, known.Ending = l.Tries.Runs(id), false
			queued = append(queued, o.Task)
		default:
			ids = append(ids, id)
			if o.Start.IsZero() {
				o.Start = o.Stop.Add(-tick) // it was about to begin
			}
			begun[id] = o
		}
	}
	for _, t := range l.Lanes.Rejoin(queued) {
		l.Lanes.Ended(t, time.Time{})
		l.Write(run.Outcome{Task: t, Kind: run.Released})
	}
	slices.Sort(ids)
	_, left, err := l.cut(ctx, ids, begun)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if slices.Contains(left, id) {
			continue
		}
		o := l.runs[id]
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
	var ended *bool
	err = l.Control.Each(ctx, "alive", []any{pids, since}, []any{&pid, &ended}, func() error {
		living[pid] = true
		return nil
	})
	return living, err
}
