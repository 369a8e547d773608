package sql

import (
	"strconv"
	"strings"
)

// guard are statements that raise an error if anything there is of the table belongs to somebody
// whom the role that runs them has no reason to trust, or if a part of it is such that it is not
// served, and what runs them again.
func guard(t Table, o Options) (whole, again string) {
	fired, called := functionNames(t, o.Inserter)
	table := []string{undollared(t.Schema), undollared(t.Name)}
	arguments := []string{table[0], table[1], array(fired), array(called), undollared(callName(t)), array(triggerNames()), "'state'"}
	body := strings.NewReplacer(
		":trusted", "SELECT ARRAY("+bare("inspect/trusted")+")",
		":owners", bare("inspect/owners"),
		":names", strings.Join(arguments, ", "),
		":below", bare("inspect/below"),
		":its_name", strings.Join(table, ", "),
		":as_target", strconv.FormatBool(!o.Inserter),
		":wary", strconv.FormatBool(o.Inserter || o.Wary),
		":indexes", array(indexNames(t))+", "+array(typeNames(t)),
	).Replace(text("session/guard"))
	again = "DO $pgtaskd$ BEGIN EXECUTE pg_catalog.current_setting('pgtaskd.guard'); END $pgtaskd$;\n"
	return body + again, again
}

// bare is a query without its comments and its semicolon.
func bare(name string) string {
	return strings.TrimSuffix(strings.TrimSpace(uncommented(text(name))), ";")
}

// array is a constant of type text[].
func array(values []string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = undollared(value)
	}
	return "ARRAY[" + strings.Join(quoted, ", ") + "]"
}

// undollared is literal within a dollar quote.
func undollared(s string) string {
	quoted := literal(s)
	if !strings.Contains(s, "$") {
		return quoted
	}
	return "E" + strings.ReplaceAll(strings.TrimPrefix(quoted, "E"), "$", `\x24`)
}
