package schema

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Reading are the rights of a role, quoted, that reading a table takes. Usage is of the schema.
type Reading struct {
	Role          string
	Usage, Select bool
}

// Grants are the statements that give the role the missing rights.
func (r Reading) Grants(t sql.Table) (grants []string) {
	if !r.Usage {
		grants = append(grants, "GRANT USAGE ON SCHEMA "+pgx.Identifier{t.Schema}.Sanitize()+" TO "+r.Role)
	}
	if !r.Select {
		grants = append(grants, "GRANT SELECT ON TABLE "+t.String()+" TO "+r.Role)
	}
	return grants
}

// Denied is the error of a role that needs these statements.
func (r Reading) Denied(grants []string) error {
	return fmt.Errorf("role %s lacks rights; let the owner run: %s", r.Role, strings.Join(grants, "; "))
}

// GrantBeside gives a role the rights to the tables beside the table, as far as there are some of
// ours.
func GrantBeside(ctx context.Context, tx pgx.Tx, t sql.Table, role string) error {
	d, err := Describe(ctx, tx.Conn(), t)
	if err != nil {
		return err
	}
	for _, grant := range []struct {
		number int64
		rights string
	}{
		{d.Leader, strings.Join(serving, ", ") + " ON TABLE " + sql.Beside(t, "leader")},
		{d.Group, strings.Join(serving, ", ") + " ON TABLE " + sql.Beside(t, "group")},
		{d.Group, "SELECT ON SEQUENCE " + limits(t)},
		{d.Register, strings.Join(registerRights, ", ") + " ON TABLE " + sql.Beside(t, "session")},
	} {
		if grant.number == 0 {
			continue
		}
		if _, err := tx.Exec(ctx, "GRANT "+grant.rights+" TO "+pgx.Identifier{role}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}
