package moving

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed query/tables.sql
var tablesQuery string

// Tables checks that these are tables, of somebody whom the session's role has a reason to trust:
// to read what others have made could run it.
func Tables(ctx context.Context, conn *pgx.Conn, scheduler string, names ...string) error {
	rows, err := conn.Query(ctx, tablesQuery, names)
	if err != nil {
		return err
	}
	var name, database, owner string
	var there, trusted bool
	var missing []string
	var strange error
	if _, err = pgx.ForEachRow(rows, []any{&name, &database, &there, &owner, &trusted}, func() error {
		if !there {
			missing = append(missing, name)
		} else if !trusted && strange == nil {
			strange = fmt.Errorf("%s belongs to role %q, who could have its rows run anything: connect as that role, or as one of its members", name, owner)
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
