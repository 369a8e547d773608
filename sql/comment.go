package sql

import (
	"slices"
	"strings"
)

// commentStep comments what has no comment, or is about to be made; a person's own comments stay.
func (m *missing) commentStep(s step) {
	object, name, _ := strings.Cut(s.name, " ")
	if m.commented(object, name) {
		return
	}
	what, needs := "comment on "+strings.ToLower(object)+" "+m.names.fill(name), m.ownership()
	change := m.add(s, what, needs)
	change.Optional = true
	if object == "TABLE" && m.comment != "" {
		change.SQL = "COMMENT ON TABLE " + m.table.Quoted() + " IS " + literal(m.versioned(m.comment)) + ";"
	}
}

// versioned is a table's comment with our version in it.
func (m *missing) versioned(comment string) string {
	if versionOf(comment) > 0 {
		return versionPattern.ReplaceAllString(comment, versionText)
	}
	return comment + " (" + versionText + ")"
}

func (m *missing) commented(object, name string) bool {
	switch object {
	case "FUNCTION":
		name, _, _ = strings.Cut(m.names.fill(strings.TrimPrefix(name, ":schema.")), "(")
		return slices.ContainsFunc(m.functions, func(f foundFunction) bool {
			return f.Name == name && versionOf(f.Comment) >= Version
		})
	case "TABLE":
		return versionOf(m.comment) >= Version
	case "COLUMN":
		name = strings.TrimPrefix(name, ":table.")
		if column := m.column(name); column != nil {
			return column.Comment
		}
		return m.oid != 0 && name == "hash"
	case "PUBLICATION":
		return !m.changes.has("publication " + Publication(m.table))
	case "INDEX":
		return m.indexCommented(strings.TrimSuffix(strings.TrimPrefix(name, ":schema.pgtaskd_"), "_:hash"))
	case "TRIGGER":
		name, _, _ = strings.Cut(name, " ")
		return m.triggerCommented(name)
	default:
		return true
	}
}

// triggerCommented is true of one that is neither there nor to be made.
func (m *missing) triggerCommented(name string) bool {
	if m.changes.has("trigger " + name) {
		return false
	}
	trigger := m.trigger(name)
	return trigger == nil || trigger.Comment
}

// indexCommented is true of an index that somebody has made under another name.
func (m *missing) indexCommented(name string) bool {
	steps := stepsOf(indexStep)
	s := steps[slices.IndexFunc(steps, func(s step) bool { return s.name == name })]
	if index := m.indexOf(s); index != nil {
		return index.Comment || !slices.Contains(indexNames(m.table), index.Name)
	}
	return s.unique() && m.partitioned()
}
