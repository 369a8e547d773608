package edit

import (
	"context"
	"errors"
	"net/http"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
	"pgtaskd/web/rows"
	"pgtaskd/work/install"
)

// makeTable makes the table of acts, unless it is there. A *Refused has the statements that the
// owner of the table has to run first. Others get no rights to the table, whatever the default
// privileges: whoever can write it can act as the serving role.
func makeTable(ctx context.Context, b *rows.Table) error {
	if b.Has(rows.Act) {
		return nil
	}
	var mayMake bool
	var role string
	err := b.Tx().QueryRow(ctx, b.Statement("act_made", nil), b.Name.Schema).Scan(&mayMake, &role)
	if err != nil {
		return err
	}
	if !mayMake {
		return refused(http.StatusConflict, "role %s may not make the table of acts; let the owner of %s run:\n%s", role, b.Name, TableText(b, role))
	}
	if _, err := b.Tx().Exec(ctx, b.Statement("act_table", nil), pgx.QueryExecModeSimpleProtocol); err != nil {
		return answered(err, http.StatusConflict)
	}
	b.Forget()
	return install.Made(ctx, b.Tx(), b.Target)
}

// aside calls do in a part of the transaction that is undone alone if it fails.
func aside(ctx context.Context, b *rows.Table, do func(context.Context) error) error {
	part, err := b.Tx().Begin(ctx)
	if err != nil {
		return err
	}
	if err := do(ctx); err != nil {
		return errors.Join(err, part.Rollback(ctx))
	}
	return part.Commit(ctx)
}

// TableText returns the statements that make the table of acts for a role.
func TableText(b *rows.Table, role string) string {
	return b.Statement("act_table", nil) + "\nGRANT SELECT, INSERT, UPDATE ON TABLE " + sql.Beside(b.Name, rows.Act) + " TO " + role + ";"
}
