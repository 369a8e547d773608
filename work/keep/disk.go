package keep

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/run"
	"pgtaskd/work/target"
)

// Disk checks whether the disk of the target's database is full: then nothing starts, as other
// tasks would FAIL too. It checks when a task has failed with that error, because a task can raise
// the error itself. A lack of memory or locks needs no check: our own statements fail then.
type Disk struct {
	Control *control.Control
	Log     *target.Log
	Stats   *target.Stats
	Runs    *run.Dispatcher // nothing starts while the disk is full

	doubted bool      // a task has failed with "disk full"
	looked  time.Time // when the last check was
	full    time.Time // since when the disk is full; zero: it is not
}

// diskTick is the shortest time between two checks: tasks may raise the error at any rate.
const diskTick = 2 * time.Second

// Doubt reports that a task has failed with "disk full".
func (d *Disk) Doubt() { d.doubted = true }

// Next returns the time until the next check.
func (d *Disk) Next() time.Duration {
	if d.full.IsZero() && !d.doubted {
		return hold.Never
	}
	return diskTick - time.Since(d.looked)
}

// Step checks the disk, and halts or resumes.
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
	d.Runs.Lanes.Slots.Halt(full)
	return nil
}

// write writes a temporary file. It fails if the disk is full.
func (d *Disk) write(ctx context.Context) error {
	batch := &pgx.Batch{}
	batch.Queue("BEGIN READ WRITE")
	batch.Queue("SET LOCAL work_mem TO '64kB'")
	batch.Queue("SET LOCAL temp_tablespaces TO ''") // use the tablespace of the tables
	d.Control.Queue(batch, "disk")
	batch.Queue("COMMIT")
	return d.Control.Send(ctx, batch)
}
