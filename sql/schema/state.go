package schema

import (
	"slices"

	"pgtaskd/sql"
)

// stateType is the type of the column state as a cast names it, and the type itself (nil: not an
// enum, or yet to be made). A table keeps the type it has. A new one shares that of the schema,
// unless the name is taken by somebody's own type.
func (f *found) stateType(t sql.Table) (string, *foundType) {
	if column := f.column("state"); column != nil {
		for i, typ := range f.types {
			if typ.OID == column.TypeOID && typ.Enum {
				return column.Cast, &f.types[i]
			}
		}
		return column.Cast, nil
	}
	for _, name := range stateNames(t) {
		i := slices.IndexFunc(f.types, func(typ foundType) bool { return typ.Name == name })
		switch {
		case i < 0:
			return sql.Plain(t.Schema, name), nil
		case f.types[i].usable():
			return sql.Plain(t.Schema, name), &f.types[i]
		}
	}
	return sql.Plain(t.Schema, "pgtaskd_state"), nil // the server says that there is one
}

// stateNames are the names that the type of the table's states can have: a table has a type of its
// own name.
func stateNames(t sql.Table) []string {
	if t.Name == "state" {
		return []string{"pgtaskd_state"}
	}
	return []string{"state", "pgtaskd_state"}
}
