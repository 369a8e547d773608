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
	"pgtaskd/work/place"
	"pgtaskd/work/wake"
)

// Found is the result of a look at the table.
type Found struct {
	Table schema.Description
	Way   sql.Wake    // the way of waking that is possible
	Place place.Place // where the table is
	Path  *string     // the search_path of statements that write rows; nil: only the server's path
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
	if found, err = t.wakeable(ctx); err != nil {
		return found, err
	}
	found.Place = t.place
	t.Places.Leads(found.Place)
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
// possible.
func (t *Table) wakeable(ctx context.Context) (found Found, err error) {
	if t.Target.Wake != sql.WAL {
		return t.withoutWAL(ctx, t.Target.Wake, nil)
	}
	found, obstacles, err := t.withWAL(ctx)
	if err != nil || len(obstacles) == 0 {
		return found, err
	}
	return t.withoutWAL(ctx, sql.Auto, obstacles)
}

// withWAL completes the table for the write-ahead log. obstacles say why the log is not possible.
func (t *Table) withWAL(ctx context.Context) (found Found, obstacles []string, err error) {
	obstacles, err = wake.Unstreamable(ctx, t.Control.Conn(), t.Control.Queries())
	if err != nil || len(obstacles) > 0 {
		return found, obstacles, err
	}
	if found.Table, err = t.furnish(ctx, sql.WAL); err != nil && !fault.IsDenied(err) { // denied: it is not published
		return found, nil, err
	}
	found.Way = wake.WayOf(sql.WAL, found.Table.Waking)
	if t.postponed.IsZero() { // otherwise the publication may still be made
		obstacles = wake.Unpublished(t.Target.Relation(), found.Table)
	}
	return found, obstacles, nil
}

// withoutWAL completes the table for auto, notify or poll. It logs why the target's way is not
// possible: the obstacles, and those that it finds.
func (t *Table) withoutWAL(ctx context.Context, wanted sql.Wake, obstacles []string) (found Found, err error) {
	way, unheard := wake.Audible(wanted, t.Control.Conn().PgConn())
	if found.Table, err = t.furnish(ctx, way); err != nil {
		return found, err
	}
	found.Way = wake.WayOf(way, found.Table.Waking)
	obstacles = append(obstacles, unheard...)
	if way == sql.Notify && found.Way != sql.Notify && t.postponed.IsZero() {
		obstacles = append(obstacles, wake.Silent(t.Target.Relation(), t.Control.Facts().Role))
	}
	if len(obstacles) > 0 {
		t.Log.Warn().Str("wake", string(found.Way)).Msg(wake.Impossible(t.Target.Wake, obstacles))
	}
	return found, nil
}

// furnish completes the table for a way of waking, and describes it. While somebody has locked the
// table, it postpones optional changes.
func (t *Table) furnish(ctx context.Context, way sql.Wake) (schema.Description, error) {
	conn, o := t.Control.Conn(), options(t.Target, t.Control.Facts().Role)
	o.Wake, o.There = way, t.described != "" || *t.Served
	if whole, err := schema.Whole(ctx, conn, t.Target.Relation(), o); err == nil && whole != nil {
		t.postponed = time.Time{}
		return *whole, whole.Refusal(t.Target.Inserter)
	}
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
	old, _ := shortfall(ctx, conn, t.Target, o)
	if t.Target.Create {
		described.Without = append(described.Without, old...)
		return described, err
	}
	for _, why := range old { // as somebody has wanted it
		t.Log.Hourly(t.Log.Info(), why).Msg(why)
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
