package schema

import (
	"strings"

	"pgtaskd/sql"
)

// commentStep comments the table and its columns where they have no comment, or are about to be
// made; a person's own comments stay. All else has its comment from the step that makes it.
func (m *missing) commentStep(s step) {
	object, name, _ := strings.Cut(s.name, " ")
	column, ours := strings.CutPrefix(name, ":table.")
	switch found := m.column(strings.Trim(column, `"`)); {
	case object == "TABLE" && versionOf(m.comment) >= Version,
		object == "COLUMN" && ours && found != nil && found.Comment,
		object == "COLUMN" && m.oid != 0 && found == nil && column == "hash",
		object == "TYPE":
		return
	}
	change := m.add(s, "comment on "+strings.ToLower(object)+" "+m.names.fill(name))
	change.Optional = true
	if object == "TABLE" && m.comment != "" {
		change.SQL = "COMMENT ON TABLE " + m.table.Quoted() + " IS " + sql.Literal(m.versioned(m.comment)) + ";"
	}
}

// versioned is a table's comment with our version in it.
func (m *missing) versioned(comment string) string {
	if versionOf(comment) > 0 {
		return versionPattern.ReplaceAllString(comment, versionText)
	}
	return comment + " (" + versionText + ")"
}
