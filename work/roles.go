package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec"
	"pgtaskd/sql"
	"pgtaskd/work/pool"
	"pgtaskd/work/run"
)

// Where each task runs under the role that inserted it.

// under is what is read of the role of a task.
type under struct {
	role      *string
	standing  string // as part/under.sql says
	superuser bool
	number    int64 // of the role, which another role of its name does not have
}

func (u *under) columns() []any { return []any{&u.role, &u.standing, &u.superuser, &u.number} }

// read is the role under which the task runs, none for the target's own, and why it may not; ours
// tells whether our own role is a superuser.
func (u *under) read(t *Target, ours bool) (role pool.Role, barred *exec.Failure) {
	if !t.Inserter || u.standing == "serves" {
		return role, nil
	}
	if u.role != nil {
		role = pool.Role{Name: *u.role, Number: u.number, Superuser: u.superuser}
	}
	return role, u.bars(t, role.Name, ours)
}

// bars says why pgtaskd does not log in as the role, and what helps; nil: it does. Where the
// configuration does not say whom, a superuser may be all of them.
func (u *under) bars(t *Target, role string, ours bool) *exec.Failure {
	user, schema := quoted(t.Connect["user"]), quoted(t.Schema)
	_, listed := t.Roles[role]
	listed = listed || ours && t.Roles == nil
	refuse := func(code, message, detail, hint string) *exec.Failure {
		return exec.NewFailure(message, code, "DETAIL", detail, "HINT", hint)
	}
	switch {
	case u.role == nil:
		return refuse("42501", "task has no role",
			"It runs under the role that inserted it, and nobody knows which that was.", "Set its role, as the owner of the table.")
	case u.standing == "absent":
		return refuse("42704", fmt.Sprintf("role %s does not exist", quoted(role)),
			"It inserted the task, under whose rights that would run.",
			"Create it, or set role to another one, as the owner of the table.")
	case u.standing == "superuser":
		return refuse("42501", fmt.Sprintf("role %s is a superuser", quoted(role)),
			fmt.Sprintf("pgtaskd serves the table as role %s, which is none, and so does not log in as one.", user),
			fmt.Sprintf("ALTER ROLE %s NOSUPERUSER, or insert the task as another role.", quoted(role)))
	case u.standing == "login":
		return refuse("28000", fmt.Sprintf("role %s is not permitted to log in", quoted(role)),
			"pgtaskd runs each task in a session that logs in as the role which inserted it.",
			fmt.Sprintf("ALTER ROLE %s LOGIN, with a CONNECTION LIMIT above 0.", quoted(role)))
	case u.standing == "stranger" && !listed:
		return refuse("42501", fmt.Sprintf("pgtaskd may not log in as role %s", quoted(role)),
			fmt.Sprintf(`It is not among the "roles" of the target, and role %s is not a member of it.`, user),
			fmt.Sprintf(`Add it to "roles" in the configuration, or GRANT %s TO %s.`, quoted(role), user))
	case u.standing == "schema":
		return refuse("42501", fmt.Sprintf("role %s may not use schema %s", quoted(role), schema),
			"The end of a task is written by a function there, which its session calls.",
			fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s.", schema, quoted(role)))
	}
	return nil
}

// server is what runners have to know.
func (l *loop) server(ctx context.Context) (*run.Server, error) {
	c := l.control
	s := &run.Server{Superuser: c.superuser, Encoding: c.encoding}
	if !l.target.Inserter {
		return s, nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	path, err := rolePath(ctx, l.target)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = "pg_catalog"
	}
	s.Path = path + ", pg_temp"
	s.First, s.Ends = l.registering.ending.EndsOthers(table(l.target))
	return s, nil
}

// onPath takes up the role's search_path when the settings have another epoch than before: there
// are as many epochs as roles, so that it is not asked for all the time.
func (l *loop) onPath(ctx context.Context, epoch int64) {
	if !l.target.Inserter || epoch == l.paths.epoch || time.Since(l.paths.tried) < zoneAgain {
		return
	}
	l.paths.tried = time.Now()
	ctx, cancel := context.WithTimeout(ctx, zoneLimit)
	defer cancel()
	server, err := l.server(ctx)
	if err != nil {
		l.log.Debug().Err(err).Msg("cannot read the role's search_path")
		return
	}
	l.Server.Store(server)
	l.paths.epoch = epoch
}

// entitle sees to it that the ends of others' tasks can be written. Where the table of tokens is
// another one than before, whoever has made it, no session of ours has one any more.
func (l *loop) entitle(ctx context.Context) error {
	if !l.target.Inserter {
		return nil
	}
	if err := entitle(ctx, l.control.conn, l.target); err != nil {
		return err
	}
	ending, err := sql.Ends(ctx, l.control.conn, table(l.target))
	if err != nil {
		return err
	}
	before := l.registering.ending
	l.registering.ending = ending
	if before.Tokens != ending.Tokens && before.Tokens != 0 {
		l.log.Warn().Msg("the table of tokens is another one than before, sessions of other roles are opened again")
		l.Pool.LoseTokens()
	}
	if before.Function != ending.Function && before.Function != 0 {
		server := *l.Server.Load()
		server.First, server.Ends = ending.EndsOthers(table(l.target))
		l.Server.Store(&server)
	}
	return nil
}

// retoken does so where ends were refused for their tokens: their tasks run again at once. The table
// may be the same and have lost its rows: each session that lies ready would fail one more run.
func (l *loop) retoken(ctx context.Context, ends []end) error {
	if !slices.ContainsFunc(ends, func(e end) bool { return e.Tokenless }) {
		return nil
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	if r := &l.registering; time.Since(r.lost) >= tokensTick {
		r.lost = time.Now()
		l.Pool.LoseTokens()
	}
	return l.entitle(ctx)
}

// tokensTick is the shortest time between two such losses.
const tokensTick = time.Second

// entitle makes what it takes.
func entitle(ctx context.Context, conn *pgx.Conn, t Target) error {
	is, err := entitled(ctx, conn, t)
	if err != nil || is {
		return err
	}
	user := t.Connect["user"]
	err = sql.Entitle(ctx, conn, table(t), user)
	if isDenied(err) {
		_, err = completeAsAdmin(ctx, t, err, func(conn *pgx.Conn) ([]sql.Change, error) {
			return nil, sql.Entitle(ctx, conn, table(t), user)
		})
	}
	return err
}

// entitled tells whether they can, and is an error if they cannot and nothing is to be changed.
func entitled(ctx context.Context, conn *pgx.Conn, t Target) (bool, error) {
	is, err := sql.Entitled(ctx, conn, table(t), t.Connect["user"])
	switch {
	case errors.Is(err, pgx.ErrNoRows): // there is no schema
		return false, nil
	case err == nil && !is && !t.Create:
		err = fmt.Errorf(`table %s lacks the function by which the ends of tasks are written under "as": "inserter", or a dump has brought it, and may not be changed: run the output of pgtaskd schema --config FILE`, table(t))
	}
	return is, err
}

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
	err := c.conn.QueryRow(ctx, "SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = $1", role).Scan(&superuser)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("it does not exist")
	case err != nil:
		return err
	case superuser && !c.superuser:
		return fmt.Errorf("it is a superuser, and role %s is none", quoted(t.Connect["user"]))
	}
	return t.trySession(ctx, role, c.version)
}
