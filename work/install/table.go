package install

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Table knows what the table of a target is like.
type Table struct {
	Control *control.Control
	Target  target.Target
	Log     *target.Log
	// Served tells whether the target has been served: what is missing then has been taken away.
	Served func() bool
	// Share keeps a table from being served, for as long as we lead; an error if it is served.
	Share func(ctx context.Context, above sql.Table) error
	// Drain is called when the door refuses the table while it is led.
	Drain func()

	described string    // fingerprint of the table when it was looked at; "": there was none
	columns   string    // the same, as it is now
	postponed time.Time // when somebody's lock has last prevented a change that it can do without; zero: none waits

	Refused    error     // why the table is not to be served any longer; nil: it is
	looked     time.Time // at the door
	searchPath string    // the role's; "": not known
	open       bool      // everybody may create something in it
}

// Exists tells whether the table is there.
func (t *Table) Exists(ctx context.Context) (bool, error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	d, err := schema.Describe(ctx, t.Control.Conn(), t.Target.Relation())
	return d.Exists, err
}

// gone is the error of a table that was there while the target was served.
func gone(t target.Target) error {
	restart := ""
	if t.Create {
		restart = ", or restart pgtaskd, which creates it"
	}
	return fmt.Errorf("table %s is gone: create or restore it%s", t.Relation(), restart)
}

// Sees takes down what the table is like now, as columns.sql tells it.
func (t *Table) Sees(columns string) { t.columns = columns }

// postponement is the time between two tries of a change that somebody's lock prevents: during each,
// INSERTs wait as well.
const postponement = time.Minute

// Changed tells whether to look at the table again: it has changed since it was looked at, or it is time
// to try a postponed change.
func (t *Table) Changed() bool {
	return t.columns != t.described || !t.postponed.IsZero() && time.Since(t.postponed) >= postponement
}
