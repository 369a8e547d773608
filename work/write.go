package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/work/run"
)

// write does what the runners' words ask for. What cannot be written now stays in unsaid.
func (l *loop) write(ctx context.Context) error {
	now := time.Now()
	ends := l.ripe(now)
	if ends = append(ends, l.unsaid...); len(ends) == 0 {
		return nil
	}
	l.unsaid = nil
	if err := l.dismiss(ctx, ends); err != nil {
		l.putOff(ends)
		return err
	}
	l.countQueued(ends)
	l.locks.ends.inTurn(ends)
	if l.locks.ends.refused > 0 {
		takeTurns(ends)
	}
	for i := 0; i < len(ends); {
		if l.tasks[ends[i].task.Row.ID] != ends[i].task { // written before an error that came after it
			i++
			continue
		}
		if l.due(&ends[i]).After(now) { // one before it has met a lock
			l.keep(ends[i])
			i++
			continue
		}
		n, size := i+1, ends[i].size()
		for n < len(ends) && n-i < l.togetherMost(&ends[i], &ends[n]) && size < writeMost {
			size += ends[n].size()
			n++
		}
		if err := l.writeSome(ctx, ends[i:n]); err != nil {
			l.putOff(ends[i:])
			return err
		}
		if i = n; size >= writeMost { // that took its time
			if err := l.mark(ctx); err != nil {
				l.putOff(ends[i:])
				return err
			}
		}
		if l.locks.ends.late(now) {
			l.queue(ends[i:])
			break
		}
	}
	l.doubtDisk(ends)
	return nil
}

// writeMost is how much output is written in one statement, in bytes, so that others do not have to
// wait long for it.
const writeMost = 1 << 20

// putOff keeps ends for the next try, those that it does not keep already.
func (l *loop) putOff(ends []end) {
	kept := map[*task]bool{}
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
	switch ends[0].kind {
	case run.Finished:
		return l.writeEach(ctx, ends, l.finish)
	case run.Refused:
		return l.refused(ctx, ends)
	case run.Released:
		var written []end
		for _, e := range ends {
			if e.task.Marks.Load() || e.delay > 0 {
				written = append(written, e)
			} else {
				l.waitsAgain(e)
			}
		}
		if len(written) > 0 {
			return l.writeEach(ctx, written, l.release)
		}
	case run.Stopped:
		return l.writeEach(ctx, ends, l.stopped)
	case run.Lost:
		for _, e := range ends {
			l.lost[e.task.Row.ID] = e
		}
	case run.Killed:
		for _, e := range ends {
			if e.Stop.Before(l.began) { // it went with the server, or we would not have had to begin again
				l.lost[e.task.Row.ID] = e
			} else {
				l.killed = append(l.killed, e)
			}
		}
	}
	return nil
}

// writeEach writes ends. A row that takes no end at all is given up: it is reported, and stays as
// it is.
func (l *loop) writeEach(ctx context.Context, ends []end, write func(context.Context, []end) error) error {
	k, first := &l.locks.ends, time.Now()
	return bisect(ctx, l, ends, func(ctx context.Context, ends []end) error {
		began := time.Now()
		if k.late(first) {
			l.queue(ends)
			return nil
		}
		err := write(ctx, ends)
		if err != nil || ends[0].kind != run.Released {
			k.took(len(ends), 0, err)
		}
		l.aside.took(&ends[0], time.Since(began))
		switch {
		case isLocked(err):
			return l.setAside(ctx, ends, time.Since(began))
		case err == nil && ends[0].barred.pause > 0:
			k.missed()
		}
		return err
	}, nil, func(e end, err error) error {
		var answer *pgconn.PgError
		errors.As(err, &answer)
		switch {
		case isLack(err) && l.waitsForLack(&e, err):
			return nil
		case isQueueFull(err):
			l.queueFull(answer.Error())
			l.waitLong(e, roomMost)
			return nil
		case isSlow(err) && e.wait == 0, // the server itself may be, this once
			passing(answer) && (isOfLocks(answer) || answer.Where == "" || e.wait < longWait):
			e.later()
			l.keep(e)
			return nil
		case isKeyTaken(answer):
			return l.superseded(ctx, e, err)
		case e.lessen(err):
			l.lesser(&e, err)
			return l.writeEach(ctx, []end{e}, write)
		}
		l.leaveAlone(e, err)
		return nil
	})
}

// gone forgets a task whose end is written, or that is not ours any more.
func (l *loop) gone(e end) {
	l.Wrote(e.Outcome)
	if e.written != nil {
		close(e.written)
	}
	if e.relieved {
		l.relieved -= e.Weight
	}
	if e.slot {
		l.Lanes.Ended(e.Task, e.Stop)
	}
	delete(l.tasks, e.task.Row.ID)
	l.successors.over(e.task.Row.ID)
	l.count++
}

// bisect changes rows together. Where the table refuses that, it changes some of them at a time, so
// that one odd row holds up no other; refused sees to a row that is refused alone. done, which may be
// nil, follows on what was changed. It goes through the rows in their order, and ends with the
// first error that is no refusal.
func bisect[T any](ctx context.Context, l *loop, rows []T,
	change func(context.Context, []T) error, done func([]T) error, refused func(T, error) error,
) error {
	err := change(ctx, rows)
	switch {
	case err == nil && done != nil:
		return done(rows)
	case err == nil || !refusedByServer(err):
		return err
	case len(rows) == 1:
		return refused(rows[0], err)
	}
	for part := range slices.Chunk(rows, max(len(rows)/partsMost, 1)) {
		if err := bisect(ctx, l, part, change, done, refused); err != nil {
			return err
		}
	}
	return nil
}

// each does something to rows with these ids. One that refuses it is left as it is, for a while.
func (l *loop) each(ctx context.Context, ids []int64, do func(context.Context, []int64) error) error {
	return bisect(ctx, l, ids, func(ctx context.Context, ids []int64) error {
		bounded, cancel := limited(ctx)
		defer cancel()
		err := do(bounded, ids)
		if answer := new(pgconn.PgError); refusedByServer(err) && errors.As(err, &answer) && passing(answer) {
			return nil // it is tried again
		}
		return err
	}, nil, func(id int64, err error) error {
		if answer := new(pgconn.PgError); errors.As(err, &answer) && isKeyTaken(answer) {
			if _, err = l.supersede(ctx, id, 0, 0, nil); isLocked(err) {
				return nil
			}
			if !isQueueFull(err) {
				return err // if the other waits no more, it is tried again
			}
		}
		switch l.hopeless[id] = time.Now(); {
		case isLack(err):
			l.lacking(err)
			return nil
		case isQueueFull(err):
			l.queueFull(err.Error())
			return nil
		}
		l.log.Error().Err(err).Int64("id", id).Msg("table refuses a change of a task; row left unchanged")
		return nil
	})
}

// eachWithWords is each, for what writes words of ours into the rows: one that refuses them is
// changed without. Those that meet a lock are left for the next time, and those that it returns.
func (l *loop) eachWithWords(
	ctx context.Context, k *locks, ids []int64, do func(ctx context.Context, ids []int64, mute bool) error,
) (left []int64, err error) {
	return l.eachUnlocked(ctx, k, ids, func(ctx context.Context, ids []int64) error {
		err := do(ctx, ids, false)
		if answer := new(pgconn.PgError); len(ids) == 1 && refusedByServer(err) && errors.As(err, &answer) && !isSlow(err) &&
			!passing(answer) && !isKeyTaken(answer) && !isQueueFull(err) {
			return do(ctx, ids, true)
		}
		return err
	})
}
