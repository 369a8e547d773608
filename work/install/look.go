package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgtaskd/exec/fault"
	"pgtaskd/human"
	"pgtaskd/sql"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/wake"
)

// Found is the result of a look at the table.
type Found struct {
	Table schema.Description
	Way   sql.Wake // the way of waking that is possible
	Path  *string  // the search_path of statements that write rows; nil: only the server's path
}

// Look completes the table, if the target wants that, and describes it. If somebody has taken away
// the table or a right while the target was served, Look does not put it back: a person who
// restores a table must not find another one there.
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
	// Users' triggers may need the serving role's own path.
	if found.Table.Triggers && t.searchPath != "" && !t.open {
		path := "pg_catalog, " + t.searchPath
		found.Path = &path
	}
	return found, nil
}

// wakeable completes the table for the wanted way of waking, or otherwise for the best that is
// possible, and logs why that is another one.
func (t *Table) wakeable(ctx context.Context) (way sql.Wake, d schema.Description, err error) {
	conn, of, left := t.Control.Conn(), t.Target.Relation(), t.Target.Wake
	var obstacles []string
	if left == sql.WAL {
		if obstacles, err = wake.Unstreamable(ctx, conn, t.Control.Queries()); err != nil {
			return way, d, err
		}
		if len(obstacles) == 0 {
			if d, err = t.furnish(ctx, left); err != nil && !fault.IsDenied(err) {
				return way, d, err
			}
			if t.postponed.IsZero() {
				obstacles = wake.Unpublished(of, d)
			}
		}
		if len(obstacles) > 0 {
			left = sql.Auto
		}
	}
	if left != sql.WAL {
		var why []string
		left, why = wake.Audible(left, conn.PgConn())
		obstacles = append(obstacles, why...)
		if d, err = t.furnish(ctx, left); err != nil {
			return way, d, err
		}
	}
	way = wake.WayOf(left, d.Waking)
	if left == sql.Notify && way != sql.Notify && t.postponed.IsZero() {
		obstacles = append(obstacles, wake.Silent(of, t.Target.Connect["user"]))
	}
	if len(obstacles) > 0 {
		t.Log.Warn().Str("wake", string(way)).Msg(wake.Impossible(t.Target.Wake, obstacles))
	}
	return way, d, nil
}

// furnish completes the table for a way of waking, and describes it. While somebody has locked the
// table, it postpones optional changes.
func (t *Table) furnish(ctx context.Context, way sql.Wake) (schema.Description, error) {
	conn, o := t.Control.Conn(), options(t.Target)
	o.Wake, o.There = way, t.described != "" || *t.Served
	made, _, err := complete(ctx, conn, t.Target, o, true)
	if errors.Is(err, schema.ErrGone) {
		return schema.Description{}, gone(t.Target)
	}
	for _, c := range made {
		if c.Failed != nil && !c.Outdated { // one line names all outdated ones
			t.without("goes without " + c.What + ", which cannot be made: " + c.Failed.Error())
		}
	}
	made = those(made, func(c schema.Change) bool { return c.Failed == nil })
	if len(made) > 0 {
		line := t.Log.Info()
		if *t.Served { // somebody had taken it away
			line = t.Log.Warn()
		}
		line.Int("changes", len(made)).Msg(summary(made))
	}
	if err = t.postpone(ctx, o, err); err != nil {
		return schema.Description{}, err
	}
	if len(made) > 0 { // our own changes must not look like somebody else's
		if err := t.lookBefore(ctx); err != nil {
			return schema.Description{}, err
		}
	}
	described, err := schema.Describe(ctx, conn, t.Target.Relation())
	if err == nil && !described.Exists {
		err = fmt.Errorf("table %s does not exist", t.Target.Relation())
	}
	if err == nil { // the table may have changed since it was completed
		err = described.Refusal(t.Target.Inserter)
	}
	if old, _ := shortfall(ctx, conn, t.Target, o); old != "" {
		described.Without = append(described.Without, old)
	}
	return described, err
}

// without logs what the table is served without.
func (t *Table) without(all ...string) {
	for _, why := range all {
		t.Log.Hourly(t.Log.Warn(), why).Msg(why)
	}
}

// postpone handles a lock that has prevented a change: if all missing objects are optional, it is
// no error, and the change is tried again later.
func (t *Table) postpone(ctx context.Context, o schema.Options, err error) error {
	t.postponed = time.Time{}
	if !fault.Has(err, "55P03") {
		return err
	}
	if _, needed := shortfall(ctx, t.Control.Conn(), t.Target, o); needed != nil {
		return err
	}
	t.postponed = time.Now()
	t.Log.Hourly(t.Log.Warn(), "postponed").Err(err).Str("retry_in", human.Duration(postponement)).
		Msg("table is in use and cannot be changed; serving it as it is")
	return nil
}
