package install

import (
	"context"
	"errors"
	"fmt"
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

// Tries are what Check tries beside the task table.
type Tries struct {
	// Role returns an error if a session for tasks of a role ("": the target's own) cannot be opened.
	// version is the server's.
	Role func(ctx context.Context, role string, version int) error
	// Remote returns why effects on a named remote do not happen exactly once; "": they do. The error
	// says that it cannot be reached.
	Remote func(ctx context.Context, f *control.Facts, name string) (obstacle string, err error)
}

// Check finds out whether the target can be served, and what would be created. It changes nothing.
func Check(ctx context.Context, t target.Target, try Tries) (r Report) {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	c := control.New(t, nil)
	err := c.Open(ctx)
	switch {
	case err == nil:
		defer c.Close()
		if err := try.Role(ctx, "", c.Facts().Version); err != nil {
			r.failed("cannot open a session for tasks: ", err)
		}
		r.roles(ctx, c.Facts(), t, try)
		r.table(ctx, c, t)
		r.remotes(ctx, c.Facts(), t, try)
	case t.Create && absent(err):
		r.absent(ctx, t, err)
	case errors.Is(err, control.ErrRecovery), errors.Is(err, control.ErrReadOnly):
		r.fault("%s", err)
	default:
		r.failed("cannot connect: ", err)
	}
	return r
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
func (r *Report) table(ctx context.Context, c *control.Control, t target.Target) {
	var err error
	conn, o := c.Conn(), options(t, c.Facts().Role)
	if o.Wake, err = r.wakes(ctx, conn, t, o); err != nil {
		r.failed("", err)
		return
	}
	if !r.door(ctx, conn, t) || !r.place(ctx, conn, t) {
		return
	}
	made, byAdmin, err := complete(ctx, conn, t, o, false)
	if err != nil {
		r.failed("", err)
		return
	}
	made = those(made, func(c schema.Change) bool { return c.Failed == nil })
	whole := "table " + t.Relation().String()
	isNew := slices.ContainsFunc(made, func(c schema.Change) bool { return c.What == whole })
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
		return
	}
	if d.Exists && !byAdmin {
		r.rights(ctx, c, t, query.Of(d, t.Relation()))
	}
	if len(r.Lines)+len(r.Faults) == 0 {
		r.say("ready")
	}
	if d.Exists && len(made) == 0 {
		old, _ := shortfall(ctx, conn, t, o)
		r.Lines = slices.Concat(r.Lines, d.Without, old)
	}
	switch leader, err := lock.Leadership(t.Relation(), false).Holder(ctx, conn); {
	case err != nil:
		r.fault("%s", err)
	case leader != nil && (leader.PID == 0 || leader.Role != t.Connect["user"]):
		r.say("holds the lock of who leads: %s", leader.Text)
	}
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
func (r *Report) door(ctx context.Context, conn *pgx.Conn, t target.Target) (open bool) {
	path, err := control.RoleSetting(ctx, t, "search_path")
	if err != nil {
		r.failed("", err)
		return false
	}
	found, err := door.Look(ctx, conn, atDoor(t, path))
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

// roles reports whether tasks have the rights of a superuser, and which roles under which tasks may
// run cannot open a session.
func (r *Report) roles(ctx context.Context, f *control.Facts, t target.Target, try Tries) {
	user := sql.Quoted(f.Role)
	if text := acts(f, t); text != "" {
		r.Notes = append(r.Notes, text)
	}
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
		if err := try.Role(ctx, role, f.Version); err != nil {
			r.doubt("tasks of role %s would fail: %s", sql.Quoted(role), err)
		}
	}
}

// remotes reports what each named remote promises.
func (r *Report) remotes(ctx context.Context, f *control.Facts, t target.Target, try Tries) {
	for _, name := range slices.Sorted(maps.Keys(t.Remotes)) {
		switch obstacle, err := try.Remote(ctx, f, name); {
		case err != nil:
			r.doubt("remote %q cannot be reached: %s", name, err)
		case obstacle != "":
			r.say("remote %q: effects happen at least once: %s", name, obstacle)
		default:
			r.say("remote %q: effects happen exactly once", name)
		}
	}
}
