package schema

import (
	"context"
	"errors"
	"fmt"

	"pgtaskd/sql"

	"github.com/jackc/pgx/v5"
)

// limits is the qualified name of the sequence that counts the changes of the table of groups.
func limits(t sql.Table) string {
	return sql.Beside(t, "group_changes")
}

// group is the number of the table of groups, if the role can read it, and of the sequence that
// counts its changes, and else what would let the role read it, if anything would.
func (all *besides) group(ctx context.Context, conn *pgx.Conn) (oid, sequence int64, lacks string, err error) {
	without := "does not limit groups as table " + sql.Beside(all.table, "group") + " says"
	if there, _ := all.find(besideStepOf("group")); there == nil {
		return 0, 0, without + ": there is none; let the owner of the table run the output of pgtaskd schema, which makes it", nil
	}
	if oid, lacks = all.usable("group", []string{"SELECT"}, without); oid == 0 {
		return 0, 0, lacks, nil
	}
	var readable bool
	err = conn.QueryRow(ctx, text("inspect/group"), oid).Scan(&sequence, &readable)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, 0, without + ": it has lost its sequence; drop the table, so that it is made again", nil
	case err == nil && !readable:
		return 0, 0, fmt.Sprintf("%s: rights are missing: GRANT SELECT ON SEQUENCE %s TO %s", without, limits(all.table), all.role), nil
	}
	return oid, sequence, "", err
}
