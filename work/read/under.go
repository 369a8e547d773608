package read

import (
	"fmt"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/text"
	"pgtaskd/work/pool"
	"pgtaskd/work/target"
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
func (u *under) read(t *target.Target, ours bool) (role pool.Role, barred *text.Failure) {
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
func (u *under) bars(t *target.Target, role string, ours bool) *text.Failure {
	user := quoted(t.Connect["user"])
	_, listed := t.Roles[role]
	listed = listed || ours && t.Roles == nil
	refuse := func(code, message, detail, hint string) *text.Failure {
		return text.NewFailure(message, code, "DETAIL", detail, "HINT", hint)
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
	}
	return nil
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
