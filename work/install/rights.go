package install

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
	"pgtaskd/sql/query"
	"pgtaskd/sql/schema"
	"pgtaskd/work/target"
)

// relative is the table, or a table above it.
type relative struct {
	Schema, Table string
	Name          string // the same by whatever route we connect to its server
	Other         bool   // it is above ours
}

// above returns the table, and the tables that it is a partition of, or inherits from.
func above(ctx context.Context, conn *pgx.Conn, q sql.Queries, t target.Target) ([]relative, error) {
	rows, err := conn.Query(ctx, q.Text("above"), t.Schema, t.Table)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[relative])
}

// lockParents returns an error if a parent of the table is served: each would count its lanes
// apart.
func (t *Table) lockParents(ctx context.Context) error {
	all, err := above(ctx, t.Control.Conn(), t.Control.Queries(), t.Target)
	for _, r := range all {
		if r.Other && err == nil {
			err = t.Share(ctx, sql.Table{Schema: r.Schema, Name: r.Table})
		}
	}
	return err
}

// lackOfRights is the error of a role that lacks rights on the table. It has the statements that
// grant them.
type lackOfRights []string

func (l lackOfRights) Error() string { return "rights are missing: " + strings.Join(l, "; ") }

// lackingRights returns a lackOfRights if the role lacks rights.
func lackingRights(ctx context.Context, conn *pgx.Conn, q sql.Queries, t sql.Table) error {
	rows, err := conn.Query(ctx, q.Text("rights"), t.Schema, t.Name)
	if err != nil {
		return err
	}
	grants, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(grants) > 0 {
		err = lackOfRights(grants)
	}
	return err
}

// seeToRights makes the dsn's user grant the missing rights, but not rights that were revoked while
// the target was served.
func (t *Table) seeToRights(ctx context.Context, d schema.Description) error {
	of := t.Target.Relation()
	err := lackingRights(ctx, t.Control.Conn(), query.Of(d, of), of)
	var lack lackOfRights
	if !errors.As(err, &lack) || !t.Target.Create || *t.Served {
		return err
	}
	if err := grantAsAdmin(ctx, t.Target, t.Control.Facts().Role, lack, true); err != nil {
		return err
	}
	return t.lookAtDoor(ctx) // only now may we lock the table, and wait for uncommitted changes of others
}

// grantAsAdmin makes the dsn's user grant the role the rights; without keep it only tries.
func grantAsAdmin(ctx context.Context, t target.Target, role string, lack lackOfRights, keep bool) error {
	return asAdmin(ctx, t, lack, func(conn *pgx.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		if _, err := tx.Exec(ctx, strings.Join(lack, "; "), pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		if err := schema.GrantBeside(ctx, tx, t.Relation(), role); err != nil || !keep {
			return err
		}
		return tx.Commit(ctx)
	})
}
