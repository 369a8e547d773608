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
// default that is worth replacing.
func DDL(t Table, o Options) string {
	n := names{table: t, state: stateOf(t, stateName(firstState(t))), serving: o.Serving}
	var b strings.Builder
	guard, again := guard(t, o)
	b.WriteString(again)
	for _, s := range steps() {
		if s.kind == besideStep {
			fmt.Fprintf(&b, "\n%s\n", n.besideDDL(s))
			continue
		}
		switch {
		case s.ofPlain():
			b.WriteString(n.where("r", s))
		case o.Wake.wants(s):
			fmt.Fprintf(&b, "\n%s\n", n.fill(s.sql))
		}
		if s.kind == tableStep { // from here on it is the one that is looked at
			fmt.Fprintf(&b, "\nLOCK TABLE %s;\n%s", t.Quoted(), again)
		}
	}
	for _, s := range partitionedSteps() {
		b.WriteString(n.where("p", s))
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
	fmt.Fprintf(&b, "\n%s", again) // what has come meanwhile
	return fmt.Sprintf("-- A table of tasks for pgtaskd (schema version %d).\n\nBEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE;\n\n%s\n%s\n%s\nCOMMIT;\n", Version,
		text("session/install")+named(text("session/beside"), map[string]string{":schema_version": strconv.Itoa(Version)}),
		strings.TrimSuffix(guard, again), atOnce(b.String()))
}

// where is a step of tables of one kind alone, as pg_class.relkind has it.
func (n names) where(kind string, s step) string {
	return fmt.Sprintf("\nIF (SELECT c.relkind FROM pg_class AS c WHERE c.oid = to_regclass(%s)::oid) = '%s' THEN\n%s\nEND IF;\n",
		literal(n.table.Quoted()), kind, n.fill(s.sql))
}

// atOnce makes one statement of several. When the guard among them raises an error, no other is
// run, and none has been, whatever runs the script: psql with ON_ERROR_ROLLBACK goes on with the
// next statement, in the same transaction.
func atOnce(statements string) string {
	tag := unusedTag("$guarded$", statements)
	return fmt.Sprintf("DO %s BEGIN\n%s\nEND %s;\n", tag, strings.TrimSpace(statements), tag)
}
