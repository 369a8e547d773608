package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// columnStep adds the columns that a table lacks, and the defaults of those that are there.
func (m *missing) columnStep(s step) {
	if m.oid != 0 && s.name == "hash" {
		return // would rewrite the table, and nothing of ours reads it
	}
	var absent []string
	for _, name := range s.columns {
		if m.column(name) == nil {
			absent = append(absent, name)
		}
	}
	if len(absent) > 0 {
		m.add(s, "column "+strings.Join(absent, ", "))
		return
	}
	for _, wanted := range wantedColumns() {
		if slices.Contains(s.columns, wanted.name) {
			m.columnDefault(wanted)
			m.columnNotNull(wanted)
		}
	}
}

// pg_task's own defaults, which fail where the extension is not loaded.
var extensionDefault = regexp.MustCompile(
	`^(?:NULLIF\(|\()*current_setting\('pg_task\.\w+'::text(?:, false)?\)(?:\)|::[\w" ]+|, \(?(?:'\w*'|\d+))*$`)

// columnDefault gives a column that is there a default, if it has none or pg_task's. If we have
// completed the table before, somebody has dropped the default since, and it stays dropped.
func (m *missing) columnDefault(wanted wantedColumn) {
	column := m.column(wanted.name)
	if wanted.def == "" || column.Generated || column.Identity {
		return
	}
	if column.Default == "" && versionOf(m.comment) == 0 || extensionDefault.MatchString(column.Default) {
		m.change("default of column "+wanted.name, setDefault(m.table, wanted.name, wanted.def)+";")
	}
}

// columnNotNull keeps nulls out by a constraint, since rows that are there may have some.
func (m *missing) columnNotNull(wanted wantedColumn) {
	name := "pgtaskd_" + wanted.name + "_not_null"
	if !wanted.notNull || m.column(wanted.name).NotNull || slices.Contains(m.constraints, name) {
		return
	}
	m.change("constraint "+name, fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s IS NOT NULL);",
		m.table, name, pgx.Identifier{wanted.name}.Sanitize())).check = true
}

func setDefault(t sql.Table, column, value string) string {
	return fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT %s", t, pgx.Identifier{column}.Sanitize(), value)
}
