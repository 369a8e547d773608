package sql

import (
	"slices"
	"strings"
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
