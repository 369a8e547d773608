package sql

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DDL is the whole text that makes a table, for a person to run; where parts of it are there already, it makes the rest. It can not
// see what Install can: a type of that name which is somebody else's, a default that is worth replacing, a partitioned table.
func DDL(t Table, o Options) string {
	n := names{table: t, state: stateOf(t, "state")}
	var b strings.Builder
	fmt.Fprintf(&b, "-- A table of tasks for pgtaskd (schema version %d).\n\nBEGIN;\n\n%s", Version, text("session/install"))
	for _, s := range steps() {
		if o.Wake.wants(s) {
			fmt.Fprintf(&b, "\n%s\n", n.fill(s.sql))
		}
	}
	for _, s := range o.Wake.unwanted() {
		fmt.Fprintf(&b, "\n%s\n", n.fill(s.removal()))
	}
	for _, column := range slices.Sorted(maps.Keys(o.Defaults)) {
		fmt.Fprintf(&b, "\n%s;\n", setDefault(t, column, literal(o.Defaults[column])))
	}
	if o.Role != "" {
		fmt.Fprintf(&b, "\n%s", named(text("session/grants"), map[string]string{":role": literal(o.Role), ":relation": literal(t.Quoted())}))
	}
	b.WriteString("\nCOMMIT;\n")
	return b.String()
}
