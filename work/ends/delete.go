package ends

import (
	"context"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/work/change"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
)

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
