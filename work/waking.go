package work

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// waker returns what wakes the loop. Its stream has a connection of its own.
func (l *loop) waker() *wake.Waker {
	return wake.New(wake.Config{
		Table: l.target.Relation(), Group: l.crew, Log: l.log.Logger, Sleep: l.target.Sleep, Poke: l.inbox.wake, Limit: control.Limited,
		Connect: func(ctx context.Context) (*pgconn.PgConn, error) { return control.Stream(ctx, l.target) },
	})
}

// wakeable completes the table for the way of waking that is wanted, or for the best that is
// possible, and logs what keeps it from being the wanted one.
func (l *loop) wakeable(ctx context.Context) (way sql.Wake, d schema.Description, err error) {
	t, c := l.target, l.control
	var obstacles []string
	if t.Wake == sql.WAL {
		if obstacles, err = wake.Unstreamable(ctx, c.Conn(), c.Queries()); err != nil {
			return way, d, err
		}
		if len(obstacles) == 0 {
			if d, err = l.furnish(ctx, t); err != nil && !fault.IsDenied(err) {
				return way, d, err
			}
			if l.postponed.IsZero() {
				obstacles = wake.Unpublished(t.Relation(), d)
			}
		}
		if len(obstacles) > 0 {
			t.Wake = sql.Auto
		}
	}
	if t.Wake != sql.WAL {
		left, why := wake.Audible(t.Wake, c.Conn().PgConn())
		t.Wake, obstacles = left, append(obstacles, why...)
		if d, err = l.furnish(ctx, t); err != nil {
			return way, d, err
		}
	}
	way = wake.WayOf(t.Wake, d.Waking)
	if t.Wake == sql.Notify && way != sql.Notify && l.postponed.IsZero() {
		obstacles = append(obstacles, wake.Silent(t.Relation(), t.Connect["user"]))
	}
	if len(obstacles) > 0 {
		l.log.Warn().Str("wake", string(way)).Msg(wake.Impossible(l.target.Wake, obstacles))
	}
	return way, d, nil
}

// wakeable is the target with the best way of waking that is possible, as far as the log is
// concerned.
func (r *Report) wakeable(ctx context.Context, conn *pgx.Conn, t target.Target) (Target, error) {
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
