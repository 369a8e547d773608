package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// outdated makes a generated column again, and the indexes on it, which an earlier schema of ours
// has made from fewer columns.
func (m *missing) outdated(s step) bool {
	due := m.column("due")
	if due == nil || !due.Generated || !slices.Contains(s.columns, due.Name) || strings.Contains(due.Default, "freed") {
		return false
	}
	m.change("column due", "ALTER TABLE "+m.table.Quoted()+" DROP COLUMN due;\n"+m.names.fill(s.sql))
	m.indexes = slices.DeleteFunc(m.indexes, func(i foundIndex) bool { return slices.Contains(i.Columns, due.Name) })
	return true
}

// foundRemains is something that an earlier version has made under a name with the table's hash, and
// that the role may drop.
type foundRemains struct{ Kind, Name, SQL string }

// renamed gives the register and the sequence of an earlier version the names that they have now, so
// that their rows and counts stay.
func (m *missing) renamed() {
	for i, r := range m.remains {
		object := map[string]string{"pgtaskd_session_": "session", "pgtaskd_group_": "group_changes"}[strings.TrimSuffix(r.Name, m.table.hash())]
		if object == "" || r.Kind == "function" || slices.ContainsFunc(m.besides, func(b foundBeside) bool { return b.Name == besideName(m.table, object) }) {
			continue
		}
		change := m.change("name of "+r.Kind+" "+besideName(m.table, object), fmt.Sprintf("ALTER %s IF EXISTS %s RENAME TO %s;",
			strings.ToUpper(r.Kind), pgx.Identifier{m.table.Schema, r.Name}.Sanitize(), m.names.fill(":bare_"+object)))
		change.Optional, change.beside = true, true
		m.remains[i].SQL = ""
	}
}

// dropped takes away what an earlier version has made, and nothing needs any more. What cannot be
// dropped stays.
func (m *missing) dropped() {
	for _, r := range m.remains {
		if r.SQL == "" || versionOf(m.comment) > Version || m.partition && r.Kind == "trigger" {
			continue
		}
		change := m.change(r.Kind+" "+r.Name, r.SQL+";")
		change.Optional, change.Removes, change.beside = true, true, true
	}
}
