package install

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Try is an error if no session of a role ("": the target's own) can be opened for tasks. version is
// the server's.
type Try func(ctx context.Context, role string, version int) error

// Check finds out whether the target could be served, and what would be created. It changes nothing.
func Check(ctx context.Context, t target.Target, try Try) (r Report) {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	c := control.New(t, nil)
	err := c.Open(ctx)
	switch {
	case err == nil:
		defer c.Close()
		if err := try(ctx, "", c.Facts().Version); err != nil {
			r.failed("cannot open a session for tasks: ", err)
		}
		r.roles(ctx, c.Facts(), t, try)
		r.table(ctx, c.Conn(), t)
	case t.Create && absent(err):
		r.absent(ctx, t, err)
	case errors.Is(err, control.ErrRecovery), errors.Is(err, control.ErrReadOnly):
		r.fault("%s", err)
	default:
		r.failed("cannot connect: ", err)
	}
	return r
}

// absent says what has to be created before the target can be connected to.
func (r *Report) absent(ctx context.Context, t target.Target, refusal error) {
	made, err := create(ctx, t, false)
	if len(made) == 0 {
		r.failed("cannot connect: ", refusal)
	}
	if err != nil && !errors.Is(err, errNobody) {
		r.failed("", err)
	}
	for _, what := range made {
		if strings.HasPrefix(what, "role ") && fault.Has(refusal, "28P01") {
			user := quoted(t.Connect["user"])
			r.fault("role %s does not exist, and would be created without a password, which the server asks for: run as a superuser: CREATE ROLE %s LOGIN PASSWORD '…'", user, user)
			continue
		}
		r.say("would create %s", what)
		if strings.HasPrefix(what, "database ") {
			r.say("would create table %s", t.Relation())
		}
	}
}

// table says what the table lacks, and whether the role, or else the dsn's user, could add it: that
// is tried, and taken back.
func (r *Report) table(ctx context.Context, conn *pgx.Conn, t target.Target) {
	t, err := r.wakes(ctx, conn, t)
	if err != nil {
		r.failed("", err)
		return
	}
	if !r.door(ctx, conn, t) {
		return
	}
	made, byAdmin, err := complete(ctx, conn, t, options(t), false)
	if err != nil {
		r.failed("", err)
		return
	}
	made = slices.DeleteFunc(made, func(c schema.Change) bool { return c.Failed != nil })
	whole := "table " + t.Relation().String()
	isNew := slices.ContainsFunc(made, func(c schema.Change) bool { return c.What == whole })
	for _, change := range made {
		kind, _, _ := strings.Cut(change.What, " ")
		if change.What == whole || kind == "schema" || !isNew && kind != "comment" { // all else goes without saying
			r.say("would %s %s", verb(change), change.What)
		}
	}
	d, err := schema.Describe(ctx, conn, t.Relation())
	if err != nil {
		r.fault("%s", err)
		return
	}
	if d.Exists && !byAdmin {
		r.rights(ctx, conn, t, query.Of(d, t.Relation()))
	}
	if len(r.Lines)+len(r.Faults) == 0 {
		r.say("ready")
	}
	if d.Exists && len(made) == 0 {
		r.without(ctx, conn, t, d)
	}
	switch leader, err := lock.Leadership(t.Relation(), false).Holder(ctx, conn); {
	case err != nil:
		r.fault("%s", err)
	case leader != nil && (leader.PID == 0 || leader.Role != t.Connect["user"]):
		r.say("holds the lock of who leads: %s", leader.Text)
	}
}

// without says what the table is served without, and what of another version's it is served with.
func (r *Report) without(ctx context.Context, conn *pgx.Conn, t target.Target, d schema.Description) {
	for _, why := range d.Without {
		r.say("%s", why)
	}
	if old, _ := shortfall(ctx, conn, t, options(t)); old != "" {
		r.say("%s", old)
	}
}

// rights says what the role may not do with a table that is there.
func (r *Report) rights(ctx context.Context, conn *pgx.Conn, t target.Target, q sql.Queries) {
	all, err := above(ctx, conn, q, t)
	if err != nil {
		r.fault("%s", err)
	}
	for _, one := range all {
		if one.Other {
			r.Above = append(r.Above, one.Name)
		} else {
			r.Table = one.Name
		}
	}
	err = lackingRights(ctx, conn, q, t.Relation())
	if lack := new(lackOfRights); errors.As(err, &lack) && t.Create {
		if err = grantAsAdmin(ctx, t, lack, false); err == nil {
			r.say("would grant missing rights to user %q", t.Connect["user"])
		}
	}
	if err != nil {
		r.fault("%s", err)
	}
}

// roles says where tasks have the rights of a superuser, which of the roles under which they may
// run cannot log in, and what is missing for them.
func (r *Report) roles(ctx context.Context, f *control.Facts, t target.Target, try Try) {
	user := quoted(t.Connect["user"])
	switch {
	case f.Superuser && t.Inserter:
		r.doubt("role %s, which serves the table, is a superuser: pgtaskd may log in as a superuser, too, and whoever owns the table can have it do so", user)
	case f.Superuser:
		r.doubt("role %s, under which tasks run, is a superuser: whoever inserts a task can do everything on the server", user)
	}
	if !t.Inserter {
		return
	}
	for _, role := range slices.Sorted(maps.Keys(t.Roles)) {
		if err := try(ctx, role, f.Version); err != nil {
			r.doubt("tasks of role %s would fail: %s", quoted(role), err)
		}
	}
}
