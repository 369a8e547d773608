package work

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// wary is an error where the target's role serves inserters as well, and is a member of roles: it is
// not known whether it is that only to log in as them, and what belongs to them would be trusted.
func wary(ctx context.Context, conn *pgx.Conn, t Target) error {
	if !t.Wary {
		return nil
	}
	roles, err := sql.Believed(ctx, conn)
	if err != nil || len(roles) == 0 {
		return err
	}
	return fmt.Errorf(`user %s serves another target under "as": "inserter", where a membership is there to log in as a role; here it would have what belongs to %s trusted: `+
		`give this target another user, or REVOKE %[2]s FROM %[1]s and write the names into "roles" of the other target`, quoted(t.Connect["user"]), strings.Join(roles, ", "))
}

// careful has no membership count in the session, if there is one, where the target's role may be a
// member of roles to log in as them.
func (t Target) careful(conn *pgx.Conn) *pgx.Conn {
	if conn != nil && (t.Inserter || t.Wary) {
		sql.TrustNoMembership(conn)
	}
	return conn
}

// describe looks at the target's table, where nobody is trusted by mistake.
func describe(ctx context.Context, conn *pgx.Conn, t Target) (sql.Description, error) {
	if err := wary(ctx, conn, t); err != nil {
		return sql.Description{}, err
	}
	return sql.Describe(ctx, conn, table(t))
}
