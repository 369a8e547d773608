package work

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// What a task meets need be nobody else's trouble: a remote of its own, memory, locks or files that
// it takes itself, a code that it only says. But a full disk is, and others would only FAIL as
// well. So where a task meets one, we look for ourselves, and nothing starts while there is no room.
// For memory and locks we do not look: where they are short for long, our own statements lack them.

// disk is what is known of that of the target's database.
type disk struct {
	doubted bool      // a task has met a full one
	looked  time.Time // when we did
	full    time.Time // since when there is no room, zero: there is
}

// diskTick is the time between two looks at the disk, at least: a task can say that it is full as
// often as it likes.
const diskTick = 2 * time.Second

// doubtDisk takes note of a task that has met a full disk, be it at its end.
func (l *loop) doubtDisk(o *run.Outcome) {
	f := o.Fault
	if f == nil && o.Result != nil {
		f = o.Result.Failure
	}
	if f != nil && f.SQLState == "53100" && o.Task.Row.Remote == "" {
		l.disk.doubted = true
	}
}

func (l *loop) nextDisk() time.Duration {
	if l.disk.full.IsZero() && !l.disk.doubted {
		return never
	}
	return diskTick - time.Since(l.disk.looked)
}

// lookAtDisk starts nothing from when there is no room on it to when there is.
func (l *loop) lookAtDisk(ctx context.Context) error {
	d := &l.disk
	d.doubted, d.looked = false, time.Now()
	err := l.tryDisk(ctx)
	full := fault.Has(err, "53100")
	switch {
	case err != nil && !fault.IsAnswer(err):
		return err
	case full && d.full.IsZero():
		d.full = d.looked
		l.stats.Fails(err)
		fault.Advised(l.log.Hourly(l.log.Error(), "disk is full"), err).Msg("the server's disk is full; nothing starts")
	case !full && !d.full.IsZero():
		l.log.Hourly(l.log.Info(), "disk has room").Str("after", human.Duration(time.Since(d.full))).
			Msg("there is room on the server's disk again")
		d.full = time.Time{}
		l.stats.Stands(target.Standing{Leads: true})
	}
	l.runs.Lanes.Halt(full)
	return nil
}

// tryDisk writes a file, and is an error where it finds no room.
func (l *loop) tryDisk(ctx context.Context) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL work_mem TO '64kB'")
	batch.Queue("SET LOCAL temp_tablespaces TO ''") // it is that of the tables which counts
	l.control.Queue(batch, "disk")
	batch.Queue("COMMIT")
	return l.control.Send(ctx, batch)
}
