package schema

import (
	"strconv"
	"strings"

	"pgtaskd/sql"
	"pgtaskd/sql/lock"
)

// names stand for the placeholders of a step.
type names struct {
	table sql.Table
	state string // the type, qualified and quoted
	parts bool   // the table is partitioned

	serving  string // the role that serves the table, where tasks run under those that insert them
	inserter bool   // they do
}

// fill puts the names into a step's text. It is the only place where they meet.
func (n names) fill(statement string) string { return sql.Fill(statement, n.of) }

// of is the value of a placeholder.
func (n names) of(placeholder string) (value string, is bool) {
	if object, is := strings.CutPrefix(placeholder, ":bare_"); is {
		return sql.Plain(sql.BesideName(n.table, object)), true
	}
	if object, is := strings.CutPrefix(placeholder, ":its_"); is {
		if object, is = strings.CutSuffix(object, "_text"); is {
			return sql.Literal(sql.Plain(n.table.Schema, sql.BesideName(n.table, object))), true
		}
		return sql.Plain(n.table.Schema, sql.BesideName(n.table, object)), true
	}
	class, number := lock.Leadership(n.table, false).Numbers()
	switch placeholder {
	case ":table_text":
		return sql.Literal(sql.Plain(n.table.Schema, n.table.Name)), true
	case ":schema_text":
		return sql.Literal(n.table.Schema), true
	case ":lead_class":
		return strconv.FormatUint(uint64(class), 10), true
	case ":lead_first":
		return strconv.FormatUint(uint64(number), 10), true
	case ":lead_last": // earlier versions had others up to this
		return strconv.FormatUint(uint64(number)|(1<<24-1), 10), true
	case ":limits":
		return strconv.FormatInt(lock.Limits, 10), true
	case ":serving":
		return sql.Literal(n.serving), true
	case ":serving_role":
		return sql.Plain(n.serving), true
	case ":id_sequence":
		return sql.Plain(n.table.Schema, sql.Cut(n.table.Name, sql.MaxName-len("_id_seq"))+"_id_seq"), true
	case ":async_security":
		if n.inserter {
			return "INVOKER", true
		}
		return "DEFINER", true
	case ":schema":
		return sql.Plain(n.table.Schema), true
	case ":table":
		return sql.Plain(n.table.Schema, n.table.Name), true
	case ":state":
		return n.state, true
	case ":hash":
		return n.table.Hash(), true
	case ":wake":
		return strconv.FormatInt(lock.Sleeping, 10), true
	case ":root":
		if n.parts {
			return ", publish_via_partition_root = true", true
		}
		return "", true
	case ":becoming":
		return sql.Named(placeholder, nil), true
	case ":version":
		return versionText, true
	}
	return "", false
}

// functionNames are those of the functions that the tables of a schema share.
func functionNames() []string {
	var all []string
	for _, s := range stepsOf(functionStep) {
		all = append(all, s.name)
	}
	return all
}
