package schema

import (
	"fmt"
	"slices"
	"strings"

	"pgtaskd/sql"
)

// fitting are the types that a column may have for each wanted type, by their names in pg_type.
var fitting = map[string][]string{
	"bool":          {"bool"},
	"int4":          {"int4"},
	"int8":          {"int4", "int8"},
	"int8[]":        {"_int4", "_int8"},
	"interval":      {"interval"},
	"jsonb":         {"jsonb"},
	"text":          {"text", "varchar", "bpchar"},
	"timestamptz":   {"timestamptz"},
	"timestamptz[]": {"_timestamptz"},
	`"char"`:        {"char", "text", "varchar", "bpchar"},
}

// OfInserters is the error if all tasks should run under the serving role, but the table's tasks
// run under the roles that insert them.
type OfInserters struct{ Table string } // quoted

func (o *OfInserters) Error() string {
	return fmt.Sprintf(`table %s runs each task under the role that inserted it: write "as": "inserter" into the target; or, to have all tasks run under the serving role, those that wait there too: DROP TRIGGER pgtaskd_role ON %[1]s, and rename column role`, o.Table)
}

func refusal(parts []Below, inserter bool) error {
	for _, b := range parts {
		switch {
		case b.Foreign:
			return fmt.Errorf("foreign table %s is a partition or child of the table, and what happens to rows of another server is not seen: detach it, or drop it", b.Name)
		case b.Inserters && !inserter:
			return &OfInserters{b.Name}
		case b.Unguarded && inserter:
			return fmt.Errorf("table %s is below the table, and its own trigger pgtaskd_role is missing or not enabled always, so that whoever inserts into it could choose role: "+
				"ALTER TABLE %[1]s ENABLE ALWAYS TRIGGER pgtaskd_role, where it is missing make it first, as the table has it; or take %[1]s from under the table", b.Name)
		case b.Claimed && inserter:
			return fmt.Errorf("table %s has a column role and no trigger that guards it, enabled always, so that others may have chosen under whom a task runs, or changed what it does: "+
				"look at all tasks that wait, and then let the owner run the output of pgtaskd schema --config, which makes the trigger; if the column is another one, rename it", b.Name)
		}
	}
	return nil
}

// unfit returns an error if the table cannot become a task table whatever is added, or must not be
// served.
func (f *found) unfit(t sql.Table, inserter bool) error {
	switch {
	case t.Schema == "" || t.Name == "":
		return fmt.Errorf("table %s: a name is empty", t)
	case len(t.Schema) > sql.MaxName || len(t.Name) > sql.MaxName:
		return fmt.Errorf("table %s: a name has more than %d bytes", t, sql.MaxName)
	case strings.Contains(t.Schema, "$$") || strings.Contains(t.Name, "$$"):
		return fmt.Errorf("table %s: a name has $$ in it, which ends the body of a function", t)
	case f.oid == 0:
		return nil
	case f.relkind != "r" && f.relkind != "p":
		return fmt.Errorf("%s exists and is not a table", t)
	}
	if err := refusal(f.below, inserter); err != nil {
		return err
	}
	id := f.column("id")
	switch {
	case id == nil:
		return fmt.Errorf("table %s has no column id", t)
	case !slices.Contains(fitting["int8"], id.BaseType):
		return wrongType(t, *id, "int8")
	case id.Default == "" && !id.Identity:
		return fmt.Errorf("table %s: column id has no default, but needs a sequence", t)
	case f.column("input") == nil:
		return fmt.Errorf(`table %s has no column input: if it is an application's, name another with "table" in the configuration; `+
			"if it is meant, say so: ALTER TABLE %s ADD COLUMN input text NOT NULL", t, t)
	}
	for _, wanted := range wantedColumns() {
		column := f.column(wanted.name)
		switch {
		case column == nil:
		case !f.fits(*column, wanted.typ):
			return wrongType(t, *column, wanted.typ)
		case wanted.generated && !column.Generated && wanted.name != "hash":
			return fmt.Errorf("table %s has a column %s, but needs a generated column of that name", t, wanted.name)
		}
	}
	return nil
}

func (f *found) fits(column foundColumn, wanted string) bool {
	if wanted != ":state" {
		return slices.Contains(fitting[wanted], column.BaseType)
	}
	if column.TypeKind != "e" {
		return slices.Contains(fitting["text"], column.BaseType)
	}
	return slices.ContainsFunc(f.types, func(t foundType) bool { return t.OID == column.TypeOID && t.usable() })
}

func wrongType(t sql.Table, column foundColumn, wanted string) error {
	if wanted == ":state" {
		wanted = "an enum of " + strings.Join(states, ", ")
	}
	return fmt.Errorf("table %s: column %s has type %s, not %s", t, column.Name, column.Type, wanted)
}
