package edit

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
	"pgtaskd/work/install"
)

// CanRecord reports whether there is a table of acts, or can be. If not, it returns a *Refused with
// the statements that the owner of the table has to run first.
func CanRecord(ctx context.Context, b *rows.Table) error {
	if b.Has(rows.Act) {
		return nil
	}
	var mayMake bool
	var role string
	err := b.Tx().QueryRow(ctx, b.Statement("act_made", nil), b.Name.Schema).Scan(&mayMake, &role)
	if err == nil && !mayMake {
		return Refuse(http.StatusConflict, "An act on many tasks needs the table %s, which role %s may not create. Ask the owner of %s to run this once, then try again:\n\n%s",
			sql.Beside(b.Name, rows.Act), role, b.Name, tableText(b, role))
	}
	return err
}

// tableText returns the statements that make the table of acts for a role.
func tableText(b *rows.Table, role string) string {
	return b.Statement("act_table", nil) + "\nGRANT SELECT, INSERT, UPDATE ON TABLE " + sql.Beside(b.Name, rows.Act) + " TO " + role + ";"
}

// makeTable makes the table of acts, unless it is there. Others get no rights to the table, whatever
// the default privileges: whoever can write it can act as the serving role.
func makeTable(ctx context.Context, b *rows.Table) error {
	if err := CanRecord(ctx, b); err != nil || b.Has(rows.Act) {
		return err
	}
	if _, err := b.Tx().Exec(ctx, b.Statement("act_table", nil), pgx.QueryExecModeSimpleProtocol); err != nil {
		return answered(err, http.StatusConflict)
	}
	b.Forget()
	return install.Made(ctx, b.Tx(), b.Target)
}
