package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"pgtaskd/remote"
)

func (r *Report) doubt(format string, args ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(format, args...))
}

// roles says where tasks have the rights of a superuser, which of the roles under which they may
// run cannot log in, and what is missing for them.
func (r *Report) roles(ctx context.Context, c *control, t Target) {
	user := quoted(t.Connect["user"])
	switch {
	case c.superuser && t.Inserter:
		r.doubt("role %s, which serves the table, is a superuser: pgtaskd may log in as a superuser, too, and whoever owns the table can have it do so", user)
	case c.superuser:
		r.doubt("role %s, under which tasks run, is a superuser: whoever inserts a task can do everything on the server", user)
	}
	if !t.Inserter {
		return
	}
	if is, err := entitled(ctx, c.conn, t); err != nil {
		r.fault("%s", err)
	} else if !is && t.Create {
		r.say("would create the function by which the ends of tasks under other roles are written")
	}
	for _, role := range slices.Sorted(maps.Keys(t.Roles)) {
		if err := tryLogin(ctx, c, t, role); err != nil {
			r.doubt("tasks of role %s would fail: %s", quoted(role), err)
		}
	}
}

// tryLogin is an error if pgtaskd cannot log in as the role, or does not.
func tryLogin(ctx context.Context, c *control, t Target, role string) error {
	var superuser bool
	err := c.conn.QueryRow(ctx, "SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) $1", role).Scan(&superuser)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("it does not exist")
	case err != nil:
		return err
	case superuser && !c.superuser:
		return fmt.Errorf("it is a superuser, and role %s is none", quoted(t.Connect["user"]))
	}
	settings, err := t.login(ctx, role)
	if err != nil {
		return err
	}
	cfg, err := ownConfig(settings, map[string]string{"application_name": controlName(t)})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return remote.Reason(err)
	}
	return conn.Close(ctx)
}
