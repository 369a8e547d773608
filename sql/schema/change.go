package schema

import "pgtaskd/sql"

// Change is one thing that a table lacks.
type Change struct {
	What string // e.g. column priority
	SQL  string // the statements that make it
	// Optional tells that the table can be served without it: comments, storage options, triggers.
	Optional bool
	// Outdated tells that it is there, as another version of ours, a dump, or somebody has made it.
	Outdated bool
	// Failed is why it could not be made; the table is served without it.
	Failed error

	alone bool // must be committed before the next changes can be made
	check bool // a constraint, which rows that are there may violate

	beside bool // an object beside the table: where it cannot be made, the rest is made all the same
}

// missing compares steps with the table that was found, and collects changes.
type missing struct {
	*found
	table   sql.Table
	names   names
	state   *foundType
	wake    sql.Wake
	changes []Change
}

func (m *missing) add(s step, what string) *Change { return m.change(what, m.names.sql(s)) }

func (m *missing) change(what, statement string) *Change {
	m.changes = append(m.changes, Change{What: what, SQL: statement})
	return &m.changes[len(m.changes)-1]
}
