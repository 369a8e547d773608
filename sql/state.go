package sql

import (
	"fmt"
	"slices"
)

// The states, as the enum has them.
var states = []string{"PLAN", "TAKE", "WORK", "DONE", "FAIL", "GONE", "STOP"}

// usable tells whether an enum is that of a task's states, though maybe not of all: pg_task's own
// had no GONE once.
func (t foundType) usable() bool {
	return t.Enum && slices.Contains(t.Labels, "PLAN") && slices.Contains(t.Labels, "DONE")
}

// stateType is the type of the column state as a cast names it, and what is found of it (nil: not
// an enum, or yet to be made). A table keeps the type it has. A new one shares that of the schema,
// unless the name is taken by somebody's own type, or by one that is not to be trusted.
func (f *found) stateType(t Table) (string, *foundType) {
	if column := f.column("state"); column != nil {
		for i, typ := range f.types {
			if typ.OID == column.TypeOID && typ.Enum {
				return column.Cast, &f.types[i]
			}
		}
		return column.Cast, nil
	}
	for n := firstState(t); ; n++ {
		name := stateName(n)
		if n == lastState { // if this is a stranger's as well, the table is refused when it is made
			return stateOf(t, name), nil
		}
		i := slices.IndexFunc(f.types, func(typ foundType) bool { return typ.Name == name })
		switch {
		case i < 0:
			return stateOf(t, name), nil
		case f.types[i].usable() && f.types[i].Trusted:
			return stateOf(t, name), &f.types[i]
		}
	}
}

// firstState is the number of the first name that the type of the table's states can have: a table has
// a type of its own name.
func firstState(t Table) int {
	if t.Name == stateName(-2) {
		return -1
	}
	return -2
}

// lastState is the number of the last name that the type can have: inspect/types.sql looks no
// further, since strangers can make any number of types.
const lastState = 998

// stateName is state, pgtaskd_state, pgtaskd_state_1 …
func stateName(n int) string {
	switch n {
	case -2:
		return "state"
	case -1:
		return "pgtaskd_state"
	default:
		return fmt.Sprint("pgtaskd_state_", n+1)
	}
}

func stateOf(t Table, name string) string {
	return plain(t.Schema, name)
}
