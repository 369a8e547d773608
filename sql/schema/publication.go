package schema

import (
	"strings"

	"pgtaskd/sql"
)

// publicationStep makes ours, or makes it again when the table is another one than it was made for.
func (m *missing) publicationStep(s step) {
	if m.published != 0 || m.partitioned() && m.version < 130000 {
		return
	}
	m.add(s, "publication "+sql.Publication(m.table)).Optional = true
}

// CreatePublication are the statements that make the publication of the table that was described,
// or make it again, for a person to run.
func CreatePublication(t sql.Table, d Description) string {
	n := names{table: t, parts: d.Partitioned}
	lines := strings.Split(n.fill(stepsOf(publicationStep)[0].sql), "\n")
	return strings.Join(lines[:2], " ")
}
