package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// limits is the qualified name of the sequence that counts the changes of the table of groups.
func limits(t Table) string {
	return Beside(t, "group_changes")
}

// foundSequence is the sequence that counts the changes of the table of groups.
type foundSequence struct {
	OID          int64
	Schema, Name string // quoted
	Readable     bool
}

// unlimited says that there is no table of groups, and what helps; "": something has its name.
func (f *found) unlimited(t Table) string {
	if there, _ := f.beside(t, besideStepOf("group")); there != nil {
		return ""
	}
	return "does not limit groups: there is no table " + Beside(t, "group") +
		"; let the owner of the table run the output of pgtaskd schema, which makes it"
}

// group is the number of the table of groups, if the role can read it, and of the sequence that
// counts its changes, and else what would let the role read it, if anything would.
func (f *found) group(ctx context.Context, conn *pgx.Conn, t Table) (oid, sequence int64, lacks string, err error) {
	there, ours := f.beside(t, besideStepOf("group"))
	if !ours {
		return 0, 0, "", nil
	}
	sequences, err := collect(ctx, conn, "group", pgx.RowToStructByPos[foundSequence], there.OID)
	if err != nil {
		return 0, 0, "", err
	}
	var grants []string
	if slices.Contains(there.Lacking, "SELECT") {
		grants = append(grants, "GRANT SELECT ON TABLE "+Beside(t, "group")+" TO "+f.role.Name)
	}
	switch {
	case len(sequences) == 0:
		return 0, 0, fmt.Sprintf("does not limit groups: table %s has lost its sequence; drop the table, so that it is made again", Beside(t, "group")), nil
	case !sequences[0].Readable:
		grants = append(grants, fmt.Sprintf("GRANT SELECT ON SEQUENCE %s.%s TO %s", sequences[0].Schema,
			sequences[0].Name, f.role.Name))
	}
	if len(grants) > 0 {
		return 0, 0, fmt.Sprintf("does not limit groups as table %s says: rights are missing: %s", Beside(t, "group"),
			strings.Join(grants, "; ")), nil
	}
	return there.OID, sequences[0].OID, "", nil
}
