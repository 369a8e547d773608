package sql

import (
	"strings"
	"sync"
)

// LeadersName is the name of the table of controllers.
func LeadersName(t Table) string { return besideName(t, "leader") }

// WhyName is the name of the function that says why a task waits.
func WhyName(t Table) string { return besideName(t, "why") }

// GroupsName is the name of the table of groups.
func GroupsName(t Table) string { return besideName(t, "group") }

// Asking returns what people ask of a table: the texts of sql/ask, with the table's names in them.
func Asking(t Table) Queries {
	all := texts("ask")
	names := map[string]string{
		":table":    t.String(),
		":leaders":  Beside(t, "leader"),
		":groups":   Beside(t, "group"),
		":why":      Beside(t, "why"),
		":name":     literal(t.Quoted()),
		":why_text": literal(Beside(t, "why") + "(pg_catalog.int8)"),
		":task":     strings.TrimSpace(all["task"]),
		":filter":   strings.TrimSpace(all["filter"]),
	}
	return Queries{all, names, &sync.Map{}}
}
