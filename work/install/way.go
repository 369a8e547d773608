package install

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// wakeable completes the table for the way of waking that is wanted, or for the best that is
// possible, and logs what keeps it from being the wanted one.
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

// wakes is the target with the best way of waking that is possible, as far as the log is
// concerned.
func (r *Report) wakes(ctx context.Context, conn *pgx.Conn, t target.Target) (target.Target, error) {
	if left, obstacles := wake.Audible(t.Wake, conn.PgConn()); left != sql.WAL {
		if len(obstacles) > 0 {
			r.say("%s", wake.Impossible(t.Wake, obstacles))
		}
		t.Wake = left
		return t, nil
	}
	d, err := schema.Describe(ctx, conn, t.Relation())
	if err != nil {
		return t, err
	}
	obstacles, err := wake.Unstreamable(ctx, conn, query.Of(d, t.Relation()))
	if err != nil {
		return t, err
	}
	if len(obstacles) == 0 {
		made, _, err := complete(ctx, conn, t, options(t), false)
		if (err == nil || fault.IsDenied(err)) && !slices.ContainsFunc(made, func(c schema.Change) bool { return c.What == "publication "+sql.Publication(t.Relation()) }) {
			obstacles = wake.Unpublished(t.Relation(), d)
		}
	}
	if len(obstacles) > 0 {
		r.say("%s", wake.Impossible(t.Wake, obstacles))
		t.Wake, _ = wake.Audible(sql.Auto, conn.PgConn())
	}
	return t, nil // the table's own rehearsal meets any other error as well
}
