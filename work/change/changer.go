package change

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/hold"
	"pgtaskd/work/target"
)

// Config is what a Changer works with.
type Config struct {
	Control *control.Control
	Holds   *hold.Holds
	Log     *target.Log
	Table   sql.Table
	Known   func(id int64) bool // a task of ours has the id, which is not held
	Planned func()              // called when a task was written that may be due
}

// Changer changes rows.
type Changer struct {
	Config
	sizer hold.Sizer // of changes without a run of ours

	// FollowLimit bounds what follows on tasks, as nothing starts meanwhile: their data may be large.
	FollowLimit time.Duration
}

const followLimit = 5 * time.Second

// New returns a Changer.
func New(c Config) *Changer { return &Changer{Config: c, FollowLimit: followLimit} }

// briefly begins a change that may meet what another transaction has locked: a key that somebody
// inserts and does not commit, a row that a trigger of the table's changes. A row that met a lock alone
// is tried again after a pause that grows; nothing else waits for it.
const briefly = "BEGIN; SET LOCAL lock_timeout = '20ms'"

// Brief runs a transaction that waits for locks briefly. A change that may notify somebody, or draw an
// id, runs in one: it logs where there is no room for that.
func (c *Changer) Brief(ctx context.Context, do func(context.Context, pgx.Tx) error) error {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	err := c.Control.Transaction(ctx, briefly, func(tx pgx.Tx) error { return do(ctx, tx) })
	switch class := fault.Of(err); {
	case class == fault.QueueFull:
		c.TellQueueFull(err.Error())
	case class.Lacks():
		c.tellLack(class, err)
	}
	return err
}
