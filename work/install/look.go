package install

import (
	"context"

	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
)

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
	t.without(found.Table.Without)
	if err := t.seeToRights(ctx, found.Table); err != nil {
		return found, err
	}
	found.Path = t.path(found.Table)
	return found, nil
}

// path is by what whatever writes rows finds names: the serving role's own search_path, after the
// server's, where triggers of users may rely on that; but not where everybody may create something
// in one of its schemas.
func (t *Table) path(d schema.Description) *string {
	e := &t.entrance
	if !d.Triggers || e.path == "" || e.open {
		return nil
	}
	path := "pg_catalog, " + e.path
	return &path
}
