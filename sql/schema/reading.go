package schema

import (
	"fmt"
	"strings"

	"pgtaskd/sql"

	"github.com/jackc/pgx/v5"
)

// Reading is what a role, quoted, may do so as to read a table. Usage is of the schema.
type Reading struct {
	Role          string
	Usage, Select bool
}

// Grants are the statements that give the role what it lacks.
func (r Reading) Grants(t sql.Table) (grants []string) {
	if !r.Usage {
		grants = append(grants, "GRANT USAGE ON SCHEMA "+pgx.Identifier{t.Schema}.Sanitize()+" TO "+r.Role)
	}
	if !r.Select {
		grants = append(grants, "GRANT SELECT ON TABLE "+t.Quoted()+" TO "+r.Role)
	}
	return grants
}

// Lacks is the error of a role that needs these statements.
func (r Reading) Lacks(grants []string) error {
	return fmt.Errorf("role %s lacks rights; let the owner run: %s", r.Role, strings.Join(grants, "; "))
}
