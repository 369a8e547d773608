package sql

import "strings"

// Asking returns the questions of people about a table: the texts of sql/ask, with the table's
// names in them.
func Asking(t Table) Queries {
	all := Texts(files, "ask")
	names := map[string]string{
		":table":   t.String(),
		":leaders": Beside(t, "leader"), ":leaders_text": Literal(BesideName(t, "leader")),
		":groups": Beside(t, "group"), ":groups_text": Literal(BesideName(t, "group")),
		":why": Beside(t, "why"), ":why_text": Literal(BesideName(t, "why")),
		":task": strings.TrimSpace(all["task"]), ":filter": strings.TrimSpace(all["filter"]),
	}
	return NewQueries(all, names)
}
