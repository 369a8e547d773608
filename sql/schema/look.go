package schema

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/sql"
)

// step adds the change of a step, unless a later pgtaskd has completed the table.
func (m *missing) step(s step) {
	if (versionOf(m.comment) <= Version || s.kind == columnStep) && wants(m.wake, s) {
		m.look(s)
	}
}

// look adds the change of a step, if its object is not there as it should be.
func (m *missing) look(s step) {
	switch s.kind {
	case schemaStep:
		if !m.schema {
			m.add(s, "schema "+pgx.Identifier{m.table.Schema}.Sanitize())
		}
	case typeStep:
		m.stateType(s)
	case functionStep:
		m.function(s)
	case tableStep:
		m.tableStep(s)
	case columnStep:
		m.columnStep(s)
	case constraintStep:
		m.constraint(s)
	case indexStep:
		m.indexStep(s)
	case triggerStep:
		m.triggerStep(s)
	case publicationStep:
		m.publicationStep(s)
	case optionStep:
		m.option(s)
	case besideStep:
		m.besideStep(s)
	case commentStep:
		m.commentStep(s)
	}
}

// tableStep makes the table, or makes id of one that is there unique, where it can be.
func (m *missing) tableStep(s step) {
	switch {
	case m.oid == 0:
		table := m.add(s, "table "+m.table.Quoted())
		table.SQL = strings.Replace(table.SQL, " IF NOT EXISTS", "", 1) // one that comes meanwhile is somebody else's
	case m.partitioned() || m.index(true, "", "id") != nil:
	case slices.ContainsFunc(m.indexes, func(i foundIndex) bool { return i.Primary }):
		m.change("unique id", "ALTER TABLE "+m.table.Quoted()+" ADD UNIQUE (id);")
	default:
		m.change("primary key", "ALTER TABLE "+m.table.Quoted()+" ADD PRIMARY KEY (id);")
	}
}

// stateType makes the type, or gives an enum the labels it lacks, which can not be used before they
// are committed.
func (m *missing) stateType(s step) {
	if m.state == nil {
		if m.column("state") == nil {
			m.add(s, "type "+m.names.state)
		}
		return
	}
	for _, label := range states {
		if !slices.Contains(m.state.Labels, label) {
			change := m.change("state "+label+" of type "+m.names.state, "ALTER TYPE "+m.names.state+" ADD VALUE IF NOT EXISTS "+sql.Literal(label)+";")
			change.alone = true
		}
	}
}

// function makes one, or replaces it by ours unless a later pgtaskd has made it.
func (m *missing) function(s step) {
	outdated := false
	for _, f := range m.functions {
		if f.Name != s.name {
			continue
		}
		if versionOf(f.Comment) > Version || strings.Contains(m.names.fill(s.sql), "$"+f.Source+"$") {
			return
		}
		outdated = true
	}
	change := m.add(s, "function "+s.name)
	if !s.fires() {
		change.SQL += "\n" + m.names.fill("GRANT EXECUTE ON FUNCTION :schema."+s.name+" TO PUBLIC;")
	}
	change.Optional, change.Outdated = true, outdated
}

func (m *missing) constraint(s step) {
	if !slices.Contains(m.constraints, s.name) {
		m.add(s, "constraint "+s.name).check = true
	}
}

func (m *missing) indexStep(s step) {
	if s.name == "number_idx" && slices.ContainsFunc(m.indexes, func(i foundIndex) bool { return i.Condition == "" && i.Columns[0] == "id" }) {
		return // any that begins with id finds a task
	}
	switch {
	case m.indexOf(s) != nil:
		return
	case s.unique() && m.partitioned(), s.forViews() && m.partition: // whose index is named by the server
		return
	}
	change := m.add(s, "index on "+strings.Join(s.columns, ", "))
	change.SQL, change.Optional = strings.Replace(change.SQL, " IF NOT EXISTS", "", 1), s.forViews() // one of that name is another one
}

func (m *missing) triggerStep(s step) {
	if m.partitioned() && m.version < 130000 && strings.Contains(s.sql, " BEFORE ") {
		return // not to be had before 13: nothing bounds the intervals there or tells of new tasks, and STOP on an ended task stands
	}
	there := m.trigger(s.name)
	if there == nil || !m.partition && m.outdated(s, there.Comment) { // a partition has it from the whole
		change := m.add(s, "trigger "+s.name)
		change.Optional, change.Outdated = true, there != nil
	}
}

func (m *missing) option(s step) {
	set := slices.ContainsFunc(m.options, func(o string) bool { return strings.HasPrefix(o, s.name+"=") })
	if !set && !m.partitioned() {
		m.add(s, "option "+s.name).Optional = true
	}
}
