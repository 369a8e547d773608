package sql

import (
	"strings"
	"sync"
)

// Asking returns what people ask of a table: the texts of sql/ask, with the table's names in them.
func Asking(t Table) Queries {
	all := texts("ask")
	names := map[string]string{
		":table":   t.String(),
		":leaders": Beside(t, "leader"), ":leaders_text": literal(besideName(t, "leader")),
		":groups": Beside(t, "group"), ":groups_text": literal(besideName(t, "group")),
		":why": Beside(t, "why"), ":why_text": literal(besideName(t, "why")),
		":task": strings.TrimSpace(all["task"]), ":filter": strings.TrimSpace(all["filter"]),
	}
	return Queries{all, names, &sync.Map{}}
}
