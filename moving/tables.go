package moving

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed query/tables.sql
var tablesQuery string

// Tables checks that these are tables, which belong, as do their schemas, to somebody whom the
// session's role has a reason to trust: to read what others have made could run it.
func Tables(ctx context.Context, conn *pgx.Conn, scheduler string, names ...string) error {
	rows, err := conn.Query(ctx, tablesQuery, names)
	if err != nil {
		return err
	}
	var name, database, object, owner string
	var there, trusted bool
	var missing []string
	var strange error
	if _, err = pgx.ForEachRow(rows, []any{&name, &database, &there, &object, &owner, &trusted}, func() error {
		if !there && !slices.Contains(missing, name) {
			missing = append(missing, name)
		} else if there && !trusted && strange == nil {
			strange = fmt.Errorf("%s belongs to role %q, who could have the tables run anything: connect as that role, or as one of its members", object, owner)
		}
		return nil
	}); err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("database %q has no %s: there is no table %s", database, scheduler, strings.Join(missing, ", "))
	}
	return strange
}
