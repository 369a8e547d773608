package work

import (
	"context"
	"slices"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/hold"
	"pgtaskd/work/inflight"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// write does what the runners' words ask for. What cannot be written now stays in unsaid, or aside.
func (l *loop) write(ctx context.Context) error {
	began := time.Now()
	ends := append(l.unsaid, l.ripe(began)...) // what has failed keeps nothing waiting that has not
	if len(ends) == 0 {
		return nil
	}
	l.unsaid = nil
	if err := l.dismiss(ctx, ends); err != nil {
		l.putOff(ends)
		return err
	}
	l.doubtDisk(ends)
	for len(ends) > 0 && !l.sizer.Late(began) {
		if l.tasks[ends[0].task.Row.ID] != ends[0].task { // written before an error that came after it
			ends = ends[1:]
			continue
		}
		if l.due(&ends[0]).After(time.Now()) { // one before it has met a lock
			l.keep(ends[0])
			ends = ends[1:]
			continue
		}
		n, size := 1, ends[0].Size()
		for n < len(ends) && n < l.togetherMost(&ends[0], &ends[n]) && size < writeMost {
			size += ends[n].Size()
			n++
		}
		if err := l.writeSome(ctx, ends[:n]); err != nil {
			l.putOff(ends)
			return err
		}
		if ends = ends[n:]; size >= writeMost { // that took its time
			l.putOff(ends)
			return nil
		}
	}
	l.nextTime(ends)
	return nil
}

// dismiss ends the backends that have not obeyed: by themselves they would go on until they next
// speak to us, who have hung up. One of another role that we may not end notices that by itself.
func (l *loop) dismiss(ctx context.Context, ends []end) error {
	var stay []pool.Backend
	for i := range ends {
		if ends[i].Stays {
			stay = append(stay, pool.Backend{PID: ends[i].PID, Since: ends[i].Since})
		}
	}
	if len(stay) == 0 {
		return nil
	}
	pids, since := columnsOf(stay)
	if _, err := l.control.Exec(ctx, "dismiss", pids, since); err != nil {
		return err
	}
	for i := range ends {
		ends[i].Stays = false
	}
	return nil
}

// nextTime keeps ends for which the time of a duty has not sufficed: others come in between.
func (l *loop) nextTime(ends []end) {
	now := time.Now()
	for _, e := range ends {
		if e.backoff.After.IsZero() {
			e.backoff.Since, e.backoff.After = now, now
		}
		l.keep(e)
	}
}

// togetherMost is how many ends are written in one statement that has both. One that could not be
// written is tried by itself.
func (l *loop) togetherMost(a, b *end) int {
	switch {
	case a.Kind != b.Kind || a.task.TooLong || b.task.TooLong || a.backoff.Wait > 0 || b.backoff.Wait > 0:
		return 1
	case a.Kind == run.Released: // on which nothing follows
		return hold.Batch
	}
	return l.sizer.Batch(hold.Batch)
}

// writeMost is how much output is written in one statement, in bytes, so that others do not have to
// wait long for it.
const writeMost = 1 << 20

// putOff keeps ends for the next try, those that it does not keep already.
func (l *loop) putOff(ends []end) {
	kept := map[*inflight.Task]bool{}
	for _, e := range slices.Concat(l.unsaid, l.aside.ends) {
		kept[e.task] = true
	}
	for _, e := range ends {
		if !kept[e.task] {
			l.keep(e)
		}
	}
}

// writeSome writes ends of one kind.
func (l *loop) writeSome(ctx context.Context, ends []end) error {
	switch ends[0].Kind {
	case run.Finished, run.Stopped:
		return l.writeEach(ctx, ends, l.finish)
	case run.Released:
		var written []end
		for _, e := range ends {
			if e.task.Marks.Load() || e.Delay > 0 {
				written = append(written, e)
			} else {
				l.waitsAgain(e)
			}
		}
		if len(written) > 0 {
			return l.writeEach(ctx, written, l.release)
		}
	case run.Lost, run.Killed:
		for _, e := range ends {
			l.lost[e.task.Row.ID] = e
		}
	}
	return nil
}

// writeEach writes ends. A row that takes no end at all is given up: it is reported, and stays as
// it is.
func (l *loop) writeEach(ctx context.Context, ends []end, write func(context.Context, []end) error) error {
	k, first := &l.sizer, time.Now()
	return change.Bisect(ends, func(ends []end) error {
		if k.Late(first) {
			l.nextTime(ends)
			return nil
		}
		began := time.Now()
		err := write(ctx, ends)
		if k.Took(len(ends), began, fault.Of(err)); ends[0].task.TooLong && time.Since(began) > 2*hold.Turn {
			k.Rest(began) // its repetition may copy what others wait for
		}
		return err
	}, func(e end, err error) error {
		switch class := fault.Of(err); {
		case class == fault.Locked:
			e.backoff.Later(hold.Locked)
			l.keep(e)
			return l.changes.TellOfLock(ctx, e.backoff.Since, e.task.Row.ID, e.task.Row.Key)
		case class.Lacks():
			e.backoff.Later(hold.Exhausted)
			l.keep(e)
			return nil
		case class == fault.Slow && e.backoff.Wait == 0, // the server itself may be, this once
			class.Passing() && (class.OfLocks() || !fault.Below(err) || e.backoff.Wait < raisedMost):
			e.backoff.Later(hold.Locked)
			l.keep(e)
			return nil
		case e.lessen(err):
			l.lesser(&e, err)
			return l.writeEach(ctx, []end{e}, write)
		}
		l.leaveAlone(e, err)
		return nil
	})
}

// raisedMost is how long an end waits at most for an error that SQL has raised and that only looks as
// if it passed.
const raisedMost = time.Second

// gone forgets a task whose end is written, or that is not ours any more.
func (l *loop) gone(e end) {
	l.runs.Wrote(e.Outcome)
	if e.Written != nil {
		close(e.Written)
	}
	delete(l.tasks, e.task.Row.ID)
	l.successors.over(e.task.Row.ID)
	l.count++
}
