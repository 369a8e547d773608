package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// registerRights are those that it takes to use the register.
var registerRights = []string{"SELECT", "INSERT", "DELETE"}

// foundRegister is what has the name of the table's register of sessions.
type foundRegister struct {
	OID      int64 // 0: nothing has
	Usable   bool  // it is one
	Lacking  []string
	Makeable bool   // where there is none
	Sealed   bool   // its comment says that no dump has brought it
	Role     string // the connection's user, quoted
}

// registerName is the name of the table's register of sessions.
func registerName(t Table) string { return "pgtaskd_session_" + t.hash() }

// Register is the qualified name of the table's register of sessions, as SQL has it.
func Register(t Table) string { return pgx.Identifier{t.Schema, registerName(t)}.Sanitize() }

func (f *found) inspectRegister(ctx context.Context, conn *pgx.Conn, t Table) error {
	r := &f.register
	err := conn.QueryRow(ctx, text("inspect/register"), t.Schema, t.Name, registerName(t),
		registerRights, f.here).Scan(&r.OID, &r.Usable, &r.Lacking, &r.Makeable, &r.Sealed, &r.Role)
	if errors.Is(err, pgx.ErrNoRows) { // there is no schema
		return nil
	}
	return err
}

// registerStep makes the register together with the table, or where the role owns that. Any other
// role would own it itself, and could keep the next one from serving the table. One that a dump has
// brought loses its rows, and others their rights to it.
func (m *missing) registerStep(s step) {
	switch r := m.register; {
	case r.OID == 0 && (m.oid == 0 || r.Makeable):
		m.add(s, RegisterOfSessions, m.createRight()).Optional = true
	case r.OID != 0 && r.Usable && !r.Sealed:
		change := m.add(s, RegisterOfSessions, "ownership of table "+Register(m.table))
		change.Optional, change.Outdated, change.beside = true, true, true
		change.takesBack = takesBack(Register(m.table), "")
	}
}

// unsealed says why a table beside the task table is not used.
const unsealed = "a dump has brought %s, or another version of pgtaskd has made it, and others may have rights to it: " +
	"let its owner run the output of pgtaskd schema, which makes it again"

// RegisterOfSessions is what a Change calls the register.
const RegisterOfSessions = "register of sessions"

// unregistered says why the register cannot be used, and what helps; "": it can.
func (f *found) unregistered(t Table) string {
	const without = "goes without a register of sessions: those of a previous leader are recognised by role, name and age; "
	switch r := f.register; {
	case r.OID == 0:
		return without + "let the owner of the table run the output of pgtaskd schema, which makes it"
	case !r.Usable:
		return without + fmt.Sprintf("%s is none: drop or rename it", Register(t))
	case !r.Sealed:
		return without + fmt.Sprintf(unsealed, Register(t))
	case len(r.Lacking) > 0:
		return without + fmt.Sprintf("rights are missing: GRANT %s ON TABLE %s TO %s",
			strings.Join(r.Lacking, ", "), Register(t), r.Role)
	}
	return ""
}

// GrantRegister gives a role the rights to the register of sessions, if there is one and it has
// them not.
func GrantRegister(ctx context.Context, tx pgx.Tx, t Table, role string) error {
	var lacks bool
	query := "SELECT coalesce(NOT pg_catalog.has_table_privilege($1::pg_catalog.name, pg_catalog.to_regclass($2)::pg_catalog.oid, 'INSERT'), false)"
	if err := tx.QueryRow(ctx, query, role, Register(t)).Scan(&lacks); err != nil || !lacks {
		return err
	}
	_, err := tx.Exec(ctx, "GRANT "+strings.Join(registerRights, ", ")+" ON TABLE "+Register(t)+
		" TO "+pgx.Identifier{role}.Sanitize())
	return err
}
