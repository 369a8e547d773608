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
	postponed time.Time // when what it can do without was tried: somebody has locked it; zero: nothing waits

	Refused    error     // why the table is not to be served any longer; nil: it is
	looked     time.Time // at the door
	searchPath string    // the role's; "": not known
	open       bool      // everybody may create something in it
}

// Found is what a look at the table has found.
type Found struct {
	Table schema.Description
	Way   sql.Wake // that is possible
	Path  *string  // the search_path of what writes rows; nil: the server's alone
}

// Look completes the table, where that is wanted, and says what it is like. A table or a right that
// was there while the target was served has been taken away by somebody, and is not put back: a
// table to be restored would be in the way of that.
func (t *Table) Look(ctx context.Context) (found Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	if err := t.lockParents(ctx); err != nil {
		return found, err
	}
	if err := t.lookBefore(ctx); err != nil {
		return found, err
	}
	if found.Way, found.Table, err = t.wakeable(ctx); err != nil {
		return found, err
	}
	found.Table.Inserter = t.Target.Inserter
	t.without(found.Table.Without...)
	if err := t.seeToRights(ctx, found.Table); err != nil {
		return found, err
	}
	// Triggers of users may rely on the serving role's own path.
	if found.Table.Triggers && t.searchPath != "" && !t.open {
		path := "pg_catalog, " + t.searchPath
		found.Path = &path
	}
	return found, nil
}

// Exists tells whether the table is there.
func (t *Table) Exists(ctx context.Context) (bool, error) {
	ctx, cancel := control.Limited(ctx)
	defer cancel()
	d, err := schema.Describe(ctx, t.Control.Conn(), t.Target.Relation())
	return d.Exists, err
}

// lookBefore reads what the table is like, so that a change after this is noticed, and looks at the
// door. It is an error if the table was there while the target was served, and is no more.
func (t *Table) lookBefore(ctx context.Context) error {
	var columns *string
	err := t.Control.Row(ctx, "columns", []any{t.Target.Schema, t.Target.Table}, &columns, nil, nil, nil)
	switch {
	case err != nil:
		return err
	case columns == nil && t.Served():
		return gone(t.Target)
	}
	t.columns = ""
	if columns != nil {
		t.columns = *columns
	}
	t.described = t.columns
	return t.lookAtDoor(ctx)
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

// postponement is the time between two tries to change what the table can do without, while
// somebody has locked it: for the blink of each try those who insert wait as well.
const postponement = time.Minute

// Changed tells whether the table is to be looked at again: it is not what it was when it was looked
// at, or what was postponed is to be tried again.
func (t *Table) Changed() bool {
	return t.columns != t.described || !t.postponed.IsZero() && time.Since(t.postponed) >= postponement
}
