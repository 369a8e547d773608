package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgtaskd/major"
	"pgtaskd/sql"
)

// DDL returns the whole script that makes a table, for a person to read and run; if parts exist, it
// makes the rest. Its head refuses tables that Install would not touch. The script cannot see all
// that Install can: that a type of our name is somebody else's, that a default should be replaced.
func DDL(t sql.Table, o Options) string {
	n := namesOf(t, sql.Plain(t.Schema, stateNames(t)[0]), o.Partitioned, o)
	var b strings.Builder
	before, together, all := kind(-1), false, o.steps()
	for i, s := range all {
		if s.kind != before || s.kind == functionStep || s.kind == besideStep && s.makes != "view" {
			b.WriteString("\n")
		}
		if before == functionStep && s.kind != functionStep {
			fmt.Fprintf(&b, "%s\n\n", n.fill(forEverybody()))
		}
		before = s.kind
		switch {
		case s.kind == schemaStep:
			b.WriteString(n.head(o) + "\n") // the head makes it
		case s.kind == typeStep: // the head makes it
			_, comment, _ := strings.Cut(s.sql, "\n")
			fmt.Fprintf(&b, "%s\n", n.fill(comment))
		case s.kind == besideStep:
			fmt.Fprintf(&b, "%s\n", n.statements(s))
		case s.joins(): // one statement for several changes in a row
			line := n.fill(strings.TrimPrefix(s.sql, "ALTER TABLE :table "))
			if !together {
				fmt.Fprintf(&b, "ALTER TABLE %s\n", n.fill(":table"))
			}
			if together = i+1 < len(all) && all[i+1].kind == s.kind && all[i+1].joins(); together {
				line = strings.TrimSuffix(line, ";") + ","
			}
			fmt.Fprintf(&b, "    %s\n", line)
		case o.Partitioned && s.rowsBefore():
			fmt.Fprintf(&b, since, major.PartitionedTriggers, n.statements(s))
		default:
			fmt.Fprintf(&b, "%s\n", n.statements(s))
		}
	}
	b.WriteString("\n")
	for _, column := range slices.Sorted(maps.Keys(o.Defaults)) {
		fmt.Fprintf(&b, "%s;\n", setDefault(t, column, sql.Literal(o.Defaults[column])))
	}
	if o.Role != "" {
		fmt.Fprintf(&b, "%s\n", namesOf(t, "", false, Options{Serving: o.Role}).fill(sql.File("schema/grants")))
	}
	return fmt.Sprintf(opening, Version, sql.File("schema/install"), b.String())
}

// since lets only servers of a major and later run statements.
const since = `DO $pgtaskd$BEGIN IF current_setting('server_version_num')::int4 >= %d0000 THEN
%s
END IF; END$pgtaskd$;
`

// opening tells a person what to know before running the script, and begins its transaction.
const opening = `-- Creates or completes a table of tasks for pgtaskd (schema version %d). It can be run again.
-- Run it as the owner of table or schema, or as a superuser. It has its own BEGIN and COMMIT, so do not
-- use psql -1. It locks the table, and rewrites one that has rows and lacks columns.

BEGIN ISOLATION LEVEL READ COMMITTED;
SET LOCAL lock_timeout = '10s';
%s%s
COMMIT;
`

// steps returns the steps of the table in the script.
func (o Options) steps() []step {
	all := slices.Clone(steps())
	if o.Partitioned {
		all = slices.DeleteFunc(all, step.ofPlain)
		all = slices.Insert(all, slices.IndexFunc(all, func(s step) bool { return s.kind == functionStep }), partitionedSteps()...)
	}
	if o.Inserter {
		all = append(all, roleSteps()...)
	}
	return slices.DeleteFunc(all, func(s step) bool { return !wants(o.Wake, s) || o.Further && s.kind == functionStep })
}

// joins tells whether the step can be part of a longer ALTER TABLE.
func (s step) joins() bool {
	return s.kind == optionStep || s.kind == columnStep && !strings.Contains(s.sql, "\n")
}

// head returns the checks that come first: they fail if an object with one of our names is somebody
// else's, or if others may create objects there.
func (n names) head(o Options) string {
	trusted := sql.Literal(cmp.Or(o.Role, o.Serving))
	for _, role := range o.Trust {
		trusted += ", " + sql.Literal(role)
	}
	var own []string
	for _, object := range slices.Concat(sql.Objects, []string{"group_changes"}) {
		own = append(own, sql.BesideName(n.table, object))
	}
	return sql.Named(sql.File("schema/head"), map[string]string{
		":schema_text": sql.Literal(n.table.Schema), ":name_text": sql.Literal(n.table.Name), ":trusted": trusted,
		":relations":  sql.Array(append(own, n.table.Name)),
		":table_text": n.words[":table_text"],
		":state_text": sql.Literal(n.state), ":state": n.state, ":schema_quoted": sql.Literal(n.words[":schema"]), ":schema": n.words[":schema"],
	})
}

// forEverybody grants everybody the functions that run in sessions of writers and readers.
func forEverybody() string {
	var all []string
	for _, s := range stepsOf(functionStep) {
		if !s.fires() {
			all = append(all, ":schema."+s.name)
		}
	}
	return "GRANT EXECUTE ON FUNCTION " + strings.Join(all, ", ") + " TO PUBLIC;"
}

// CreatePublication returns the statements that make or replace the publication of the described
// table, for a person to run.
func CreatePublication(t sql.Table, d Description) string {
	lines := strings.Split(namesOf(t, "", d.Partitioned, Options{}).fill(stepsOf(publicationStep)[0].sql), "\n")
	return strings.Join(lines[:2], " ")
}
