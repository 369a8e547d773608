package work

import (
	"context"
	"slices"
	"time"

	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/ends"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// recover sees to what is under way and not run by us: tasks whose session is gone, and those of
// an old leader.
func (l *loop) recover(ctx context.Context) error {
	l.look.orphans = time.Now()
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	if err := l.recoverLost(ctx); err != nil {
		return err
	}
	return l.recoverOrphans(ctx)
}

// recoverLost waits until the backends of lost sessions are gone; then what is not committed never
// will be.
func (l *loop) recoverLost(ctx context.Context) error {
	if len(l.lost) == 0 {
		return nil
	}
	living, err := l.lostAlive(ctx)
	if err != nil {
		return err
	}
	var ids []int64
	var aboard []*run.Task
	begun := map[int64]ends.End{}
	for id, e := range l.lost {
		switch killed := e.Kind == run.Killed && !e.Stop.Before(l.began); { // else it went with the server
		case e.Task.Row.Remote == "" && living[e.PID], killed && l.runs.Clock.Now().Sub(e.Stop) < lostTick: // the server may be going down
		case killed: // it goes on: a person has terminated the session, or a time limit
			delete(l.lost, id)
			l.runs.Lanes.Ended(e.Task, e.Stop)
			l.ends.Finish(e)
		case e.Aboard:
			delete(l.lost, id)
			l.tries.Once(id) // so that it shows WORK first, should it be what has taken the session
			e.Task.Again, e.Known.Ending = l.tries.Runs(id), false
			aboard = append(aboard, e.Task)
		default:
			ids = append(ids, id)
			if e.Start.IsZero() {
				e.Start = e.Stop.Add(-lostTick) // it was about to begin
			}
			begun[id] = e
		}
	}
	for _, t := range l.runs.Lanes.Rejoin(aboard) {
		l.runs.Lanes.Ended(t, time.Time{})
		l.ends.TakeBack(t)
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
		e := l.lost[id]
		delete(l.lost, id)
		l.runs.Lanes.Ended(e.Task, l.runs.Clock.Now())
		l.ends.Forget(&e)
		l.look.wanted = true
	}
	return nil
}

// lostAlive are the backends of lost sessions that are still there.
func (l *loop) lostAlive(ctx context.Context) (living map[int32]bool, err error) {
	var pids []int64
	var since []time.Time
	for _, e := range l.lost {
		pids, since = append(pids, int64(e.PID)), append(since, e.Since)
	}
	living = map[int32]bool{}
	var pid int32
	var ended *bool
	err = l.control.Each(ctx, "alive", []any{pids, since}, []any{&pid, &ended}, func() error {
		living[pid] = true
		return nil
	})
	return living, err
}

// cut judges tasks that were cut off, or were to be stopped, where it is certain that they do not run
// any more. Of those in lost it is known that their backend is gone. It has not come to those
// that are left.
func (l *loop) cut(ctx context.Context, ids []int64, lost map[int64]ends.End) (done map[int64]bool, left []int64, err error) {
	done = map[int64]bool{}
	if len(ids) == 0 {
		return done, nil, nil
	}
	left, err = l.changes.EachWithWords(ctx, ids, func(ctx context.Context, ids []int64, mute bool) error {
		gone, starts, versions := make([]int64, len(ids)), make([]*time.Time, len(ids)), make([]int32, len(ids))
		for i, id := range ids {
			if e, known := lost[id]; known {
				gone[i], starts[i], versions[i] = int64(e.PID), &e.Start, int32(e.Task.Row.Version)
			}
		}
		some, err := l.changes.Tasks(ctx, "cut", ids, gone, starts, versions, l.panics.all(), mute, l.runs.Pool.PIDs(), l.place.Load())
		if err == nil {
			l.judged(some, done)
		}
		return err
	})
	if err == nil {
		for id := range done {
			l.panics.Delete(id)
		}
	}
	if len(done) > 0 {
		l.log.Warn().Int("tasks", len(done)).Msg("found interrupted tasks")
	}
	return done, left, err
}

// judged takes note of tasks of an old leader, or of lost sessions, whose rows show their end by now.
func (l *loop) judged(some []change.Changed, done map[int64]bool) {
	for _, c := range some {
		if done[c.ID] = true; c.Empty {
			l.ends.Deletes.Later(c.ID)
		}
		if c.State == "GONE" {
			l.stats.Skips(target.Superseded, 1)
		}
	}
	l.counted(some)
}

// isForgotten tells an end that the server may have forgotten in its last crash, with what it stands
// for: the row may have another version by that number, and effects whose commit did not wait for the
// disk are lost. The task waits still, or is found cut off.
func (l *loop) isForgotten(e *ends.End) bool {
	if l.crashed == nil || e.Kind != run.Finished || !e.Stop.Before(*l.crashed) ||
		e.Task.Marks.Load() && !(l.control.Facts().Lazy && e.Task.Row.Remote == "") {
		return false
	}
	l.look.wanted = true
	return true
}
