package sql

import "github.com/jackc/pgx/v5"

// Objects are the tables, views and functions beside a table, in the order in which they are made:
// schema/beside has a file of each. The table can be served without them, so something else that
// has the name of one of them is left alone.
var Objects = []string{"leader", "session", "group", "schedule", "run", "stat", "error", "why", "data", "async"}

// BesideName is the table's name with an underscore and the object. If that is too long, the
// table's name is cut, and a hash of it follows.
func BesideName(t Table, object string) string {
	name := t.Name + "_" + object
	if len(name) <= MaxName {
		return name
	}
	rest := "_" + t.Hash()[:8] + "_" + object
	return Cut(t.Name, MaxName-len(rest)) + rest
}

// Beside is the qualified name of an object beside the table, as SQL has it.
func Beside(t Table, object string) string {
	return pgx.Identifier{t.Schema, BesideName(t, object)}.Sanitize()
}

// BesideNames are those of all objects beside the table.
func BesideNames(t Table) []string {
	all := make([]string, len(Objects))
	for i, object := range Objects {
		all[i] = BesideName(t, object)
	}
	return all
}
