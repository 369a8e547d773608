package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Untrusted is the error of a table with which something can run that belongs to somebody whom the
// role has no reason to trust: the owner could replace it, and have the role's rights.
type Untrusted struct {
	Role    string // quoted, as all names
	Objects []Owned

	inserters bool // tasks run under the roles that insert them
}

// Owned is an object that belongs to somebody.
type Owned struct {
	Kind, Name string // as DROP has them
	Owner      string
}

func (u *Untrusted) Error() string {
	const most = 5
	lines := make([]string, 0, most+1)
	for i, o := range u.Objects {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(u.Objects)-most))
			break
		}
		lines = append(lines, o.refusal(u.Role, u.inserters))
	}
	return strings.Join(lines, "; ")
}

// refusal says whose the object is, and what to do.
func (o Owned) refusal(role string, inserters bool) string {
	belongs := "belongs to"
	switch o.Kind {
	case "CAST":
		belongs = "calls a function of"
	case "RELATION", "NAME":
		kind := map[string]string{"RELATION": "relation", "NAME": "type"}[o.Kind]
		return fmt.Sprintf("%s %s belongs to role %s and has a name that the table needs: drop or rename it", kind, o.Name, o.Owner)
	}
	return fmt.Sprintf("%s %s %s role %s, whom role %s has no reason to trust: %s%s",
		strings.ToLower(o.Kind), o.Name, belongs, o.Owner, role, o.remedy(role), membership(o.Owner, role, inserters))
}

// membership is the statement that gives the role a reason to trust the owner, as the last of
// several ways. To be a member of a role of the server's own is no reason, nor of one that could
// insert tasks which run as itself.
func membership(owner, role string, inserters bool) string {
	switch {
	case Predefined(owner):
		return ""
	case inserters:
		return fmt.Sprintf(", or, if %s may do all that %s may, GRANT %[2]s TO %[1]s (if %[2]s is a member of %[1]s, REVOKE that first)", owner, role)
	}
	return fmt.Sprintf(", or GRANT %s TO %s", owner, role)
}

// Predefined tells a role of the server's own by its name, which no other role can have.
func Predefined(role string) bool { return strings.HasPrefix(role, "pg_") }

// remedy is what takes the object from its owner. What it has been given to run stays.
func (o Owned) remedy(role string) string {
	switch o.Kind {
	case "TABLE":
		return fmt.Sprintf("drop it, or see what its triggers, defaults, rules and policies do and ALTER TABLE %s OWNER TO %s", o.Name, role)
	case "TYPE":
		return fmt.Sprintf("check its casts and constraints and ALTER TYPE %s OWNER TO %s", o.Name, role)
	case "SCHEMA":
		return fmt.Sprintf("serve a table in another schema, or ALTER SCHEMA %s OWNER TO %s", o.Name, role)
	case "FUNCTION", "CAST":
		return "DROP " + o.Kind + " " + o.Name
	default:
		return fmt.Sprintf("ALTER %s %s OWNER TO %s", o.Kind, o.Name, role)
	}
}

// TrustNoMembership has all looks at owners in the session count no membership as a reason to trust:
// its role may be a member only to log in as the roles that insert tasks. A table that somebody else
// has put in the place of one of inserters does not say that of itself.
func TrustNoMembership(conn *pgx.Conn) { conn.PgConn().CustomData()[noMembership] = true }

const noMembership = "pgtaskd.no_membership"

// ofInserters tells whether no membership counts.
func ofInserters(conn *pgx.Conn, o Options) bool {
	return o.Inserter || conn.PgConn().CustomData()[noMembership] == true
}

// trustedBy are those whom the role has reason to trust with the table; o.Alone: itself and
// superusers.
func trustedBy(ctx context.Context, conn *pgx.Conn, role string, t Table, o Options) ([]int64, error) {
	return collect(ctx, conn, "trusted", pgx.RowTo[int64], role, o.Alone, ofInserters(conn, o), t.Schema, t.Name)
}

// Trusts tells whether the role has reason to trust the connection's user with what it runs;
// inserters: where tasks run under the roles that insert them.
func Trusts(ctx context.Context, conn *pgx.Conn, role string, inserters bool) (bool, error) {
	trusted, err := trustedBy(ctx, conn, role, Table{}, Options{Inserter: inserters})
	if err != nil {
		return false, err
	}
	var does bool
	err = conn.QueryRow(ctx, text("inspect/trusts"), trusted).Scan(&does)
	return does, err
}

// Believed are some of the roles, quoted, that the connection's user trusts for being a member of
// theirs, and for nothing else.
func Believed(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	var user string
	if err := conn.QueryRow(ctx, "SELECT current_user").Scan(&user); err != nil {
		return nil, err
	}
	all, err := trustedBy(ctx, conn, user, Table{}, Options{})
	if err != nil {
		return nil, err
	}
	anyway, err := trustedBy(ctx, conn, user, Table{}, Options{Inserter: true})
	if err != nil {
		return nil, err
	}
	return collect(ctx, conn, "believed", pgx.RowTo[string], all, anyway)
}

// Trusted returns those whom the connection's user has reason to trust, and the roles besides of
// which somebody says so. It is an *Untrusted error as well if anything that can run with the table
// belongs to others.
func Trusted(ctx context.Context, conn *pgx.Conn, t Table, besides []string) ([]int64, error) {
	trusted, _, err := owners(ctx, conn, t, Options{}, besides...)
	return trusted, err
}

// Grantable tells whether the schema belongs to the connection's user or a superuser. It is an
// *Untrusted error if the table or a sequence belongs to somebody else: to grant rights on it runs
// nothing, so the rest does not matter.
func Grantable(ctx context.Context, conn *pgx.Conn, t Table) (schema bool, err error) {
	var u *Untrusted
	if _, _, err = owners(ctx, conn, t, Options{Alone: true}); err == nil || !errors.As(err, &u) {
		return err == nil, err
	}
	schema = !slices.ContainsFunc(u.Objects, func(o Owned) bool { return o.Kind == "SCHEMA" })
	u.Objects = slices.DeleteFunc(u.Objects, func(o Owned) bool { return o.Kind != "TABLE" && o.Kind != "SEQUENCE" })
	if len(u.Objects) > 0 {
		return schema, u
	}
	return schema, nil
}

// owners returns those whom the connection's user trusts, with the roles besides, and an *Untrusted
// error if anything belongs to others. What only has the name of an index is returned as taken: it
// is in the way where there is no such index yet.
func owners(ctx context.Context, conn *pgx.Conn, t Table, o Options, besides ...string) (trusted []int64, taken *Untrusted, err error) {
	var role, quoted string
	if err = conn.QueryRow(ctx, "SELECT current_user, pg_catalog.quote_ident(current_user)").Scan(&role, &quoted); err != nil {
		return nil, nil, err
	}
	if trusted, err = trustedBy(ctx, conn, role, t, o); err != nil {
		return nil, nil, err
	}
	if len(besides) > 0 {
		more, err := collect(ctx, conn, "roles", pgx.RowTo[int64], besides)
		if err != nil {
			return nil, nil, err
		}
		trusted = append(trusted, more...)
	}
	fired, called := functionNames(t, o.Inserter)
	objects, err := collect(ctx, conn, "owners", pgx.RowToStructByPos[Owned], t.Schema, t.Name, fired, called, callName(t),
		triggerNames(), "", trusted, indexNames(t), typeNames(t))
	if err != nil {
		return nil, nil, err
	}
	inserters := ofInserters(conn, o)
	taken, others := &Untrusted{Role: quoted, inserters: inserters}, &Untrusted{Role: quoted, inserters: inserters}
	for _, o := range objects {
		if o.Kind == "RELATION" && slices.ContainsFunc(indexNames(t), o.named) {
			taken.Objects = append(taken.Objects, o)
		} else {
			others.Objects = append(others.Objects, o)
		}
	}
	if len(others.Objects) > 0 {
		err = others
	}
	return trusted, taken, err
}

// from is an *Untrusted error if something taken has the name of an index that has just been made:
// there is none then.
func (u *Untrusted) from(made []Change) error {
	objects := slices.DeleteFunc(slices.Clone(u.Objects), func(o Owned) bool {
		return !slices.ContainsFunc(made, func(c Change) bool { return strings.Contains(c.SQL, o.Name[strings.LastIndex(o.Name, ".")+1:]+" ON ") })
	})
	if len(objects) == 0 {
		return nil
	}
	return &Untrusted{u.Role, objects, u.inserters}
}

// named tells whether the object has a name of ours, in whatever schema.
func (o Owned) named(name string) bool { return strings.HasSuffix(o.Name, "."+name) }

// IsUntrusted tells an *Untrusted error.
func IsUntrusted(err error) bool {
	var u *Untrusted
	return errors.As(err, &u)
}
