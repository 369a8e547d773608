package keep

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// Disk knows whether there is room on the disk of the target's database. A full one would FAIL others
// as well: when a task meets it, we look for ourselves, as the task may only have raised the error, and
// nothing starts while there is no room. If memory or locks are short for long, our own statements lack
// them.
type Disk struct {
	Control *control.Control
	Log     *target.Log
	Stats   *target.Stats
	Halt    func(bool) // called after each look: nothing starts from true to false

	doubted bool      // a task has met a full one
	looked  time.Time // when we did
	full    time.Time // since when there is no room, zero: there is
}

// diskTick is the time between two looks, at least: a task can raise that error as often as it likes.
const diskTick = 2 * time.Second

// Doubt takes note that a run here has failed with that error.
func (d *Disk) Doubt() { d.doubted = true }

// Next is how long the next look waits.
func (d *Disk) Next() time.Duration {
	if d.full.IsZero() && !d.doubted {
		return hold.Never
	}
	return diskTick - time.Since(d.looked)
}

// Step looks whether there is room.
func (d *Disk) Step(ctx context.Context) error {
	d.doubted, d.looked = false, time.Now()
	err := d.write(ctx)
	full := fault.Has(err, fault.DiskFull)
	switch {
	case err != nil && !fault.IsAnswer(err):
		return err
	case full && d.full.IsZero():
		d.full = d.looked
		d.Stats.Fails(err)
		fault.Advised(d.Log.Hourly(d.Log.Error(), "disk is full"), err).Msg("the server's disk is full; nothing starts")
	case !full && !d.full.IsZero():
		d.Log.Hourly(d.Log.Info(), "disk has room").Str("after", human.Duration(time.Since(d.full))).
			Msg("there is room on the server's disk again")
		d.full = time.Time{}
		d.Stats.Stands(target.Standing{Leads: true})
	}
	d.Halt(full)
	return nil
}

// write writes a file, and is an error if there is no room for it.
func (d *Disk) write(ctx context.Context) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL work_mem TO '64kB'")
	batch.Queue("SET LOCAL temp_tablespaces TO ''") // the tablespace of the tables counts
	d.Control.Queue(batch, "disk")
	batch.Queue("COMMIT")
	return d.Control.Send(ctx, batch)
}
