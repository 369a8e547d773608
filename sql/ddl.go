package sql

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// DDL is the whole text that makes a table, for a person to run; where parts of it are there
// already, it makes the rest, unless that belongs to somebody whom the role that runs it has no
// reason to trust. It can not see what Install can: a type of that name which is somebody else's, a
// default that is worth replacing, a partitioned table.
func DDL(t Table, o Options) string {
	n := names{table: t, state: stateOf(t, "state"), serving: o.Serving}
	var b strings.Builder
	guard, again := guard(t, o.Inserter)
	fmt.Fprintf(&b, "-- A table of tasks for pgtaskd (schema version %d).\n\nBEGIN;\n\n%s\n%s", Version,
		text("session/install")+named(text("session/beside"),
			map[string]string{":schema_version": strconv.Itoa(Version)}), guard)
	for _, s := range steps() {
		if s.kind == besideStep {
			fmt.Fprintf(&b, "\n%s\n", n.besideDDL(s))
			continue
		}
		if o.Wake.wants(s) {
			fmt.Fprintf(&b, "\n%s\n", n.fill(s.sql))
		}
		if s.kind == tableStep { // from here on it is the one that is looked at
			fmt.Fprintf(&b, "\nLOCK TABLE %s;\n%s", t.Quoted(), again)
		}
	}
	for _, s := range o.Wake.unwanted() {
		fmt.Fprintf(&b, "\n%s\n", n.fill(s.removal()))
	}
	if o.Inserter {
		for _, statements := range n.roles() {
			fmt.Fprintf(&b, "\n%s\n", statements)
		}
	}
	for _, column := range slices.Sorted(maps.Keys(o.Defaults)) {
		fmt.Fprintf(&b, "\n%s;\n", setDefault(t, column, literal(o.Defaults[column])))
	}
	if o.Role != "" {
		fmt.Fprintf(&b, "\n%s", named(text("session/grants"),
			map[string]string{":role": literal(o.Role), ":relation": literal(t.Quoted()), ":leader": literal(Beside(t, "leader")), ":groups": literal(Beside(t, "group"))}))
	}
	b.WriteString("\nCOMMIT;\n")
	return b.String()
}
