package schema

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// Missing returns the changes that the table needs, in the order in which they are to be made; none
// if it can be served as it is. It only reads, and any role can do it. A table that cannot be
// completed is an error: a column of the wrong type, a view, a default for no column.
func Missing(ctx context.Context, conn *pgx.Conn, t sql.Table, o Options) ([]Change, error) {
	f, err := inspect(ctx, conn, t)
	if err != nil {
		return nil, err
	}
	if o.There && f.oid == 0 {
		return nil, ErrGone
	}
	if err := f.unfit(t, o.Inserter); err != nil {
		return nil, err
	}
	m := &missing{found: f, table: t, wake: o.Wake}
	name, state := f.stateType(t)
	m.names, m.state = namesOf(t, name, f.partitioned(), o), state
	if f.partition {
		m.wake = sql.Poll // its triggers speak to the leader of the whole table
	}
	for _, s := range steps() {
		m.step(s)
	}
	if f.partitioned() {
		for _, s := range partitionedSteps() {
			m.step(s)
		}
	}
	if err := m.roles(o.Inserter); err != nil {
		return nil, err
	}
	if err := m.configured(ctx, conn, o.Defaults); err != nil {
		return nil, err
	}
	return m.changes, nil
}

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

	check  bool // a constraint, which rows that are there may violate
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

// Options are the settings that may differ from table to table.
type Options struct {
	Defaults    map[string]string // of columns, as the text of their values
	Wake        sql.Wake          // "": as Auto
	Role        string            // in DDL alone: is granted the rights to serve the table; "": nothing is granted
	Partitioned bool              // in DDL alone: the table is there, and partitioned
	Inserter    bool              // each task runs under the role that inserted it
	Serving     string            // the role that serves the table
	There       bool              // the table was there a moment ago: ErrGone if it is not
	Trust       []string          // in DDL alone: further roles that may own and make objects that the table uses

	Made func(context.Context, pgx.Tx) error // is called when all is made and not committed yet; may be nil

	Further bool // in DDL alone: a script for another table of the schema has made the objects that they share
}

// wants tells whether the step is of use with that way of waking.
func wants(w sql.Wake, s step) bool {
	kind, name := s.kind, s.name
	switch {
	case kind == publicationStep:
		return w == sql.WAL
	case kind == triggerStep && name == changeTrigger:
		return w != sql.Poll
	}
	return true
}

// Version is the schema's version; the comments of the table and of the functions contain it.
// Objects with a higher one were made by a later pgtaskd and are not replaced.
const Version = 1

const versionPrefix = "pgtaskd schema "

var (
	versionText    = versionPrefix + strconv.Itoa(Version)
	versionPattern = regexp.MustCompile(regexp.QuoteMeta(versionPrefix) + `(\d+)`)
)

// versionOf is the schema's version in a comment; 0: none.
func versionOf(comment string) int {
	match := versionPattern.FindStringSubmatch(comment)
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(match[1])
	return n
}

// roles adds the column of the role that has inserted a task, and the trigger that fills and guards
// it, to a table of a later pgtaskd too. Neither is optional: without them tasks would run under a
// role that they name themselves. A trigger that guards may be of another build.
func (m *missing) roles(inserter bool) error {
	if !inserter {
		return nil
	}
	column := m.column("role")
	if column != nil && (!m.fits(*column, "text") || column.Generated) {
		return wrongType(m.table, *column, "text")
	}
	if m.partitioned() && m.version < 130000 {
		return fmt.Errorf(`table %s is partitioned: "as": "inserter" needs PostgreSQL 13 or later for that`, m.table)
	}
	for _, s := range roleSteps() {
		before, trigger := len(m.changes), m.trigger(s.name)
		guarded := trigger != nil && trigger.Guards
		switch {
		case s.kind == triggerStep && trigger != nil && !guarded && m.partition: // it comes from the whole
			m.change("trigger "+s.name, "ALTER TABLE "+m.table.String()+" ENABLE ALWAYS TRIGGER "+s.name+";")
		case s.kind == triggerStep && trigger != nil && !guarded:
			m.add(s, "trigger "+s.name)
		case s.kind != commentStep:
			m.look(s) // whoever has made the table
		case column == nil: // a person's own stays
			m.add(s, "comment on column role")
		}
		for i := range m.changes[before:] {
			m.changes[before+i].Optional = guarded && s.kind == triggerStep
		}
	}
	if column != nil && column.Default == "" { // dropped, maybe: then the serving role's tasks have none
		m.change("default of column role", setDefault(m.table, "role", "current_user")+";")
	}
	return nil
}
