package schema

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/major"
	"pgtaskd/sql"
)

// missing compares steps with the table that was found, and collects changes.
type missing struct {
	*found
	table   sql.Table
	names   names
	state   *foundType
	wake    sql.Wake
	changes []Change
}

func (m *missing) add(s step, what string) *Change { return m.change(what, m.names.statements(s)) }

func (m *missing) change(what, statement string) *Change {
	m.changes = append(m.changes, Change{What: what, SQL: statement})
	return &m.changes[len(m.changes)-1]
}

// step adds the change of a step, unless a later pgtaskd has completed the table.
func (m *missing) step(s step) {
	if (versionOf(m.comment) <= Version || s.kind == columnStep) && wants(m.wake, s) {
		m.look(s)
	}
}

// look adds the change of a step if its object is missing or not as it should be.
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

// tableStep makes the table, or makes id unique in an existing table if it can.
func (m *missing) tableStep(s step) {
	switch {
	case m.oid == 0:
		table := m.add(s, "table "+m.table.String())
		table.SQL = strings.Replace(table.SQL, " IF NOT EXISTS", "", 1) // a table made meanwhile is somebody else's
	case m.partitioned() || m.index(true, "", "id") != nil:
	case slices.ContainsFunc(m.indexes, func(i foundIndex) bool { return i.Primary }):
		m.change("unique id", "ALTER TABLE "+m.table.String()+" ADD UNIQUE (id);")
	default:
		m.change("primary key", "ALTER TABLE "+m.table.String()+" ADD PRIMARY KEY (id);")
	}
}

// stateType makes the type, or adds the labels that an enum lacks.
func (m *missing) stateType(s step) {
	if m.state == nil {
		if m.column("state") == nil {
			m.add(s, "type "+m.names.state)
		}
		return
	}
	for _, label := range states {
		if !slices.Contains(m.state.Labels, label) {
			m.change("state "+label+" of type "+m.names.state, "ALTER TYPE "+m.names.state+" ADD VALUE IF NOT EXISTS "+sql.Literal(label)+";")
		}
	}
}

// function makes a function, or replaces it by ours unless a later pgtaskd has made it.
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
		return // any index that begins with id finds a task
	}
	switch {
	case m.indexOf(s) != nil:
		return
	case s.unique() && m.partitioned(), s.forViews() && m.partition: // the server names the indexes of a partition
		return
	}
	change := m.add(s, "index on "+strings.Join(s.columns, ", "))
	// Another index may have that name.
	change.SQL, change.Optional = strings.Replace(change.SQL, " IF NOT EXISTS", "", 1), s.forViews()
	change.Later = !s.unique() && s.name != "open_idx"
}

func (m *missing) triggerStep(s step) {
	if m.partitioned() && s.rowsBefore() && !major.PartitionedTriggers.In(m.version) {
		return
	}
	there := m.trigger(s.name)
	if there == nil || !m.partition && m.outdated(s, there.Comment) { // a partition has its triggers from the whole
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

// columnStep adds the columns that a table lacks, and the defaults of existing columns.
func (m *missing) columnStep(s step) {
	if m.oid != 0 && s.name == "hash" {
		return // would rewrite the table, and pgtaskd does not read it
	}
	var absent []string
	for _, name := range s.columns {
		if m.column(name) == nil {
			absent = append(absent, name)
		}
	}
	if len(absent) > 0 {
		column := m.add(s, "column "+strings.Join(absent, ", "))
		column.Later = !slices.ContainsFunc(absent, func(name string) bool { return name != "succeeded" && !slices.Contains(later, name) })
		return
	}
	for _, wanted := range wantedColumns() {
		if slices.Contains(s.columns, wanted.name) {
			m.columnDefault(wanted)
			m.columnNotNull(wanted)
		}
	}
}

// extensionDefault matches pg_task's own defaults, which fail if the extension is not loaded.
var extensionDefault = regexp.MustCompile(
	`^(?:NULLIF\(|\()*current_setting\('pg_task\.\w+'::text(?:, false)?\)(?:\)|::[\w" ]+|, \(?(?:'\w*'|\d+))*$`)

// columnDefault gives an existing column a default if it has none, or has pg_task's. If we have
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

// columnNotNull keeps nulls out by a constraint, since existing rows may have some.
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

// commentStep comments the table and those columns that have no comment or are about to be made;
// people's own comments stay. All other objects get their comment from the step that makes them.
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
		change.SQL = "COMMENT ON TABLE " + m.table.String() + " IS " + sql.Literal(m.versioned(m.comment)) + ";"
	}
}

// versioned returns a table's comment with our version in it.
func (m *missing) versioned(comment string) string {
	if versionOf(comment) > 0 {
		return versionPattern.ReplaceAllString(comment, versionText)
	}
	return comment + " (" + versionText + ")"
}

// publicationStep makes our publication, or replaces it if it was made for another table.
func (m *missing) publicationStep(s step) {
	if m.published != 0 || m.partitioned() && !major.PartitionedTriggers.In(m.version) {
		return
	}
	m.add(s, "publication "+sql.Publication(m.table)).Optional = true
}

// outdated tells from an object's comment whether another build, but no later version, has made it.
func (m *missing) outdated(s step, comment string) bool {
	return versionOf(comment) <= Version && !strings.Contains(comment, m.names.made(s))
}

// besideStep makes a missing object, and replaces an object of another build if the role may.
// Objects that are not ours stay.
func (m *missing) besideStep(s step) {
	there, ours := m.besides.find(s)
	switch {
	case there == nil && (m.oid == 0 || m.besides.makes):
	case ours && m.outdated(s, there.Comment):
	default:
		return
	}
	change := m.add(s, s.makes+" "+sql.BesideName(m.table, s.name))
	change.Optional, change.Outdated, change.beside = true, there != nil, true
}
