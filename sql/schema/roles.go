package schema

import "fmt"

// If each task runs under the role that inserted it, the table also has a column, and a trigger
// that fills and guards it.

// roles adds the column and its trigger, to a table of a later pgtaskd too. None of it is optional:
// without it tasks would run under a role that they name themselves.
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
	before := len(m.changes)
	for _, s := range roleSteps() {
		switch trigger := m.trigger(s.name); {
		case s.kind == triggerStep && trigger != nil && !trigger.Guards && m.partition: // it comes from the whole
			m.change("trigger "+s.name, "ALTER TABLE "+m.table.Quoted()+" ENABLE ALWAYS TRIGGER "+s.name+";")
		case s.kind == triggerStep && trigger != nil && !trigger.Guards:
			m.add(s, "trigger "+s.name)
		case s.kind != commentStep:
			m.look(s) // whoever has made the table
		case column == nil: // a person's own stays
			m.add(s, "comment on column role")
		}
	}
	if column != nil && column.Default == "" { // dropped, maybe: then the serving role's tasks have none
		m.change("default of column role", setDefault(m.table, "role", "current_user")+";")
	}
	for i := range m.changes[before:] {
		m.changes[before+i].Optional = false
	}
	return nil
}
