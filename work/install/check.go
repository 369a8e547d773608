package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/sql"
	"pgtaskd/sql/lock"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/control"
	"pgtaskd/work/door"
	"pgtaskd/work/place"
	"pgtaskd/work/target"
	"pgtaskd/work/wake"
)

// Report has the findings of Check.
type Report struct {
	Lines  []string // what would be created, or "ready" if nothing is missing
	Faults []string // problems that keep the target from being served, one a line
	Doubts []string // problems that do not, but that a person should know, one a line
	Notes  []string // roles that are trusted, or as powerful as the serving role
	Table  string   // names the table, the same for each target with this table; "": there is none yet
	Above  []string // the tables that it is a partition of, or inherits from

	Remotes []Remote // the named remotes that it may use
}

// Remote says what a named remote promises. Targets that reach it in the same way have equal ones.
type Remote struct {
	Text string
	Away bool // it cannot be reached
}

func (r *Report) say(format string, args ...any) {
	r.Lines = append(r.Lines, fmt.Sprintf(format, args...))
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

// failed adds a fault for an error, with a hint if there is one.
func (r *Report) failed(what string, err error) {
	if hint := fault.Hint(err); hint != "" {
		r.fault("%s%s (%s)", what, err, hint)
	} else {
		r.fault("%s%s", what, err)
	}
}

func (r *Report) doubt(format string, args ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(format, args...))
}

// absent reports what must be created before a connection is possible.
func (r *Report) absent(ctx context.Context, t target.Target, refusal error) {
	made, err := create(ctx, t, false)
	if len(made) == 0 {
		r.failed("cannot connect: ", refusal)
	}
	if err != nil && !errors.Is(err, errNobody) && !(len(made) == 0 && t.Admin["user"] == t.Connect["user"]) {
		r.failed("", err)
	}
	for _, what := range made {
		if strings.HasPrefix(what, "role ") && fault.Has(refusal, "28P01") {
			user := sql.Quoted(t.Connect["user"])
			r.fault("role %s does not exist, and would be created without a password, which the server asks for: run as a superuser: CREATE ROLE %s LOGIN PASSWORD '…'", user, user)
			continue
		}
		r.say("would create %s", what)
		if strings.HasPrefix(what, "database ") {
			r.say("would create table %s", t.Relation())
		}
	}
}

// table reports what the table lacks, and whether the role, or otherwise the dsn's user, could add
// it: table tries that, and rolls back.
func (r *Report) table(ctx context.Context, k *Checker, t target.Target) {
	var err error
	c := k.control
	conn, o := c.Conn(), options(t, c.Facts().Role)
	if o.Wake, err = r.wakes(ctx, conn, t, o); err != nil {
		r.failed("", err)
		return
	}
	if !r.door(ctx, k, t) || !r.place(ctx, conn, t) {
		return
	}
	whole, _ := schema.Whole(ctx, conn, t.Relation(), o) // its error comes again
	if whole == nil && !r.another(ctx, k, t, o) && !r.incomplete(ctx, k, t, o) {
		return
	}
	if whole != nil {
		r.rights(ctx, c, t, query.Of(*whole, t.Relation()))
	}
	if len(r.Lines)+len(r.Faults) == 0 {
		r.say("ready")
	}
	if whole != nil {
		r.Lines = slices.Concat(r.Lines, whole.Without)
	}
	switch leader, err := lock.Leadership(t.Relation(), false).Holder(ctx, conn); {
	case err != nil:
		r.fault("%s", err)
	case leader != nil && (leader.PID == 0 || leader.Role != t.Connect["user"]):
		r.say("holds the lock of who leads: %s", leader.Text)
	}
}

// another reports a table that would be made just as one that was rehearsed before.
func (r *Report) another(ctx context.Context, k *Checker, t target.Target, o schema.Options) bool {
	if k.makes == "" || k.makes != kind(t, o) {
		return false
	}
	changes, err := schema.Missing(ctx, k.control.Conn(), t.Relation(), o)
	if whole := "table " + t.Relation().String(); err == nil && has(changes, whole) {
		r.say("would create %s", whole)
		return true
	}
	return false
}

// kind is equal for tables that are made alike.
func kind(t target.Target, o schema.Options) string {
	return fmt.Sprint(t.Schema, t.Create, t.Admin, t.Trust, t.Roles, o.Wake, o.Inserter, o.Serving, o.Defaults)
}

func has(changes []schema.Change, what string) bool {
	return slices.ContainsFunc(changes, func(c schema.Change) bool { return c.What == what })
}

// incomplete reports on a table that lacks something. false: nothing more can be said.
func (r *Report) incomplete(ctx context.Context, k *Checker, t target.Target, o schema.Options) (goesOn bool) {
	c, conn := k.control, k.control.Conn()
	made, byAdmin, err := complete(ctx, conn, t, o, false)
	if err != nil {
		r.failed("", err)
		return false
	}
	made = those(made, func(c schema.Change) bool { return c.Failed == nil })
	whole := "table " + t.Relation().String()
	isNew := has(made, whole)
	if isNew {
		k.makes = kind(t, o)
	}
	for _, change := range made {
		kind, _, _ := strings.Cut(change.What, " ")
		if change.What == whole || kind == "schema" || !isNew && kind != "comment" { // the rest is not listed
			verb := "create"
			if change.Outdated {
				verb = "make again"
			}
			r.say("would %s %s", verb, change.What)
		}
	}
	d, err := schema.Describe(ctx, conn, t.Relation())
	if err != nil {
		r.fault("%s", err)
		return false
	}
	if d.Exists && !byAdmin {
		r.rights(ctx, c, t, query.Of(d, t.Relation()))
	}
	if d.Exists && len(made) == 0 {
		if len(r.Lines)+len(r.Faults) == 0 {
			r.say("ready")
		}
		old, _ := shortfall(ctx, conn, t, o)
		r.Lines = slices.Concat(r.Lines, d.Without, old)
	}
	return true
}

// wakes returns the best way of waking that is possible, as far as the write-ahead log decides it.
func (r *Report) wakes(ctx context.Context, conn *pgx.Conn, t target.Target, o schema.Options) (sql.Wake, error) {
	way, obstacles := wake.Audible(t.Wake, conn.PgConn())
	if way == sql.WAL {
		d, err := schema.Describe(ctx, conn, t.Relation())
		if err != nil {
			return way, err
		}
		if obstacles, err = wake.Unstreamable(ctx, conn, query.Of(d, t.Relation())); err != nil {
			return way, err
		}
		if len(obstacles) == 0 {
			made, _, err := complete(ctx, conn, t, o, false) // later rehearsals meet the same other errors
			publication := func(c schema.Change) bool { return c.What == "publication "+sql.Publication(t.Relation()) }
			if (err == nil || fault.IsDenied(err)) && !slices.ContainsFunc(made, publication) {
				obstacles = wake.Unpublished(t.Relation(), d)
			}
		}
	}
	if len(obstacles) > 0 {
		r.say("%s", wake.Impossible(t.Wake, obstacles))
		way, _ = wake.Audible(sql.Auto, conn.PgConn())
	}
	return way, nil
}

// door reports the findings of the door. false: do not make or try anything.
func (r *Report) door(ctx context.Context, k *Checker, t target.Target) (open bool) {
	if k.unread != nil {
		r.failed("", k.unread)
		return false
	}
	found, err := door.Look(ctx, k.control.Conn(), atDoor(t, k.path))
	if err != nil {
		r.failed("cannot look whom the table has to trust: ", err)
		return false
	}
	for _, f := range found {
		switch f.Grade {
		case door.Refuse:
			r.fault("%s", f)
		case door.Warn:
			r.doubt("%s", f)
		default:
			r.Notes = append(r.Notes, f.String())
		}
	}
	return found.Err() == nil
}

// place reports a copy that nobody has adopted. false: do not make or try anything.
func (r *Report) place(ctx context.Context, conn *pgx.Conn, t target.Target) (open bool) {
	found, err := place.Look(ctx, conn, t, nil)
	if err == nil {
		err = found.Err()
	}
	if err != nil {
		r.failed("", err)
	} else if found.Say != "" {
		r.Notes = append(r.Notes, found.Say)
	}
	if lacks := found.Lacks(t.Connect["user"]); lacks != "" {
		r.doubt("%s", lacks)
	}
	return err == nil
}

// rights reports the rights that the role lacks on an existing table.
func (r *Report) rights(ctx context.Context, c *control.Control, t target.Target, q sql.Queries) {
	conn, role := c.Conn(), c.Facts().Role
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
	if lack := (lackOfRights{}); errors.As(err, &lack) && t.Create {
		if err = grantAsAdmin(ctx, t, role, lack, false); err == nil {
			r.say("would grant missing rights to user %q", role)
		}
	}
	if err != nil {
		r.fault("%s", err)
	}
}
