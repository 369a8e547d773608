package install

import (
	"context"
	"fmt"
	"time"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/place"
	"pgtaskd/work/target"
)

// Table knows the state of a target's table.
type Table struct {
	Control *control.Control
	Target  target.Target
	Log     *target.Log
	// Served: the target has been served. If an object is missing then, somebody has taken it away.
	Served *bool
	// Share prevents others from serving a table while we lead; an error if they serve it already.
	Share func(ctx context.Context, above sql.Table) error

	described string    // fingerprint of the table at the last look; "": there was no table
	columns   string    // the same, as it is now
	postponed time.Time // when a lock last prevented an optional change; zero: no change waits

	Places *place.Memory // outlasts the Table
	place  place.Place   // where the table is

	Refused    error     // why the table may not be served any longer; nil: it may
	looked     time.Time // at the door, last
	searchPath string    // the role's search_path; "": not known
	open       bool      // everybody may create something where the role looks up names
}

// Exists reports whether the table exists.
func (t *Table) Exists(ctx context.Context) (bool, error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	d, err := schema.Describe(ctx, t.Control.Conn(), t.Target.Relation())
	return d.Exists, err
}

// gone is the error for a table that has disappeared while the target was served.
func gone(t target.Target) error {
	restart := ""
	if t.Create {
		restart = ", or restart pgtaskd, which creates it"
	}
	return fmt.Errorf("table %s is gone: create or restore it%s", t.Relation(), restart)
}

// Sees records the table's columns now, as columns.sql returns them.
func (t *Table) Sees(columns string) { t.columns = columns }

// postponement is the time between two tries of a postponed change: during each, INSERTs wait too.
const postponement = time.Minute

// Changed reports whether to look at the table again: it has changed since the last look, or it is
// time for a postponed change.
func (t *Table) Changed() bool {
	return t.columns != t.described || !t.postponed.IsZero() && time.Since(t.postponed) >= postponement
}
