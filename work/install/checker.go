package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"pgtaskd/sql"
	"pgtaskd/work/control"
	"pgtaskd/work/target"
)

// Tries are what Check tries beside the task table.
type Tries struct {
	// Role returns an error if a session for tasks of a role ("": the target's own) cannot be opened.
	// version is the server's.
	Role func(ctx context.Context, t *target.Target, role string, version int) error
	// Remote returns why effects on a named remote do not happen exactly once; "": they do. The error
	// says that it cannot be reached.
	Remote func(ctx context.Context, t *target.Target, f *control.Facts, name string) (obstacle string, err error)
}

// Checker checks targets, one after another. It keeps its session for the next target of the same
// database and role: most of the time goes into opening one. One goroutine uses it.
type Checker struct {
	Try Tries

	at      string // where the session is
	control *control.Control
	tried   error  // of a session for tasks there
	path    string // the role's search_path there
	unread  error  // why it is not known
	makes   string // the kind of table that a rehearsal has made there; "": none
}

// Close closes the session.
func (k *Checker) Close() {
	if k.control != nil {
		k.control.Close()
	}
}

// Check finds out whether the target can be served, and what would be created. It changes nothing.
func (k *Checker) Check(ctx context.Context, t target.Target) (r Report) {
	ctx, cancel := context.WithTimeout(ctx, control.PrepareLimit)
	defer cancel()
	switch err := k.open(ctx, t); {
	case err == nil:
		if k.tried != nil {
			r.failed("cannot open a session for tasks: ", k.tried)
		}
		r.roles(ctx, k, t)
		r.table(ctx, k, t)
		r.remotes(ctx, k, t)
	case t.Create && absent(err):
		r.absent(ctx, t, err)
	case errors.Is(err, control.ErrRecovery), errors.Is(err, control.ErrReadOnly), errors.As(err, new(*control.Pooled)):
		r.fault("%s", err)
	default:
		r.failed("cannot connect: ", err)
	}
	return r
}

// open opens a session for the target, unless the one of the last target will do.
func (k *Checker) open(ctx context.Context, t target.Target) error {
	at := t.Connect.String() + "\x00" + t.TimeZone
	if k.control != nil && k.at == at && k.control.Opened() {
		return nil
	}
	k.Close()
	k.at, k.makes, k.control = at, "", control.New(t, nil)
	if err := k.control.Open(ctx, true); err != nil {
		return err
	}
	k.tried = k.Try.Role(ctx, &t, "", k.control.Facts().Version)
	k.path, k.unread = control.RoleSetting(ctx, t, "search_path")
	return nil
}

// roles reports whether tasks have the rights of a superuser, and which roles under which tasks may
// run cannot open a session.
func (r *Report) roles(ctx context.Context, k *Checker, t target.Target) {
	f := k.control.Facts()
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
		if err := k.Try.Role(ctx, &t, role, f.Version); err != nil {
			r.doubt("tasks of role %s would fail: %s", sql.Quoted(role), err)
		}
	}
}

// remotes reports what each named remote promises.
func (r *Report) remotes(ctx context.Context, k *Checker, t target.Target) {
	for _, name := range slices.Sorted(maps.Keys(t.Remotes)) {
		obstacle, err := k.Try.Remote(ctx, &t, k.control.Facts(), name)
		one := Remote{Away: err != nil, Text: fmt.Sprintf("remote %q: effects happen exactly once", name)}
		if err != nil {
			one.Text = fmt.Sprintf("remote %q cannot be reached: %s", name, err)
		} else if obstacle != "" {
			one.Text = fmt.Sprintf("remote %q: effects happen at least once: %s", name, obstacle)
		}
		r.Remotes = append(r.Remotes, one)
	}
}
